// Hands the session off to another agent, and says what the new session lacks.
import { make } from "./dom.js";
import * as api from "./api.js";

export async function handOff(id, to) {
  const done = await api.handOff(id, { to });
  const dialog = make(
    "dialog",
    { "aria-labelledby": "handed-off" },
    make(
      "section",
      {},
      make("h2", { id: "handed-off" }, `Handed off to ${done.title}`),
      ...part("Not carried over:", done.losses.filter((each) => !each.kept)),
      ...part("Carried over in another form:", done.losses.filter((each) => each.kept)),
      make("p", { class: "sub" }, `To continue in its own interface: ${done.command.join(" ")}`),
    ),
    make("a", { class: "button primary", href: `/s/${encodeURIComponent(done.session_id)}` }, "Open the new session"),
  );
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
}

function part(title, losses) {
  const words = (each) => [each.detail, each.tools.join(", ")].filter(Boolean).join(": ");
  const rows = losses.map((each) => make("div", {}, make("dt", {}, `${each.count} ${each.kind}`), make("dd", {}, words(each))));
  return rows.length ? [make("p", {}, title), make("dl", {}, ...rows)] : [];
}
