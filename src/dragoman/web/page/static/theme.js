// The theme someone chose, before anything is painted.
const chosen = localStorage.getItem("dragoman-theme");
if (chosen) document.documentElement.dataset.theme = chosen;
