// Exports. A plain link would lack the key, so the file is fetched and then handed to the browser.
import { make, toast } from "./dom.js";
import { ask } from "./key.js";

export function downloads() {
  document.addEventListener("click", async (event) => {
    const link = event.target.closest("a[download]");
    if (!link || !link.pathname.startsWith("/api/")) return;
    event.preventDefault();
    const response = await ask(link.href).catch(() => null);
    if (!response?.ok) return toast(response ? `The export failed (${response.status}).` : "The server cannot be reached.", "error");
    const name = /filename="([^"]+)"/.exec(response.headers.get("content-disposition") ?? "")?.[1] ?? "session";
    const address = URL.createObjectURL(await response.blob());
    make("a", { href: address, download: name }).click();
    setTimeout(() => URL.revokeObjectURL(address), 60_000);
  });
}
