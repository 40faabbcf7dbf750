// Applies the chosen theme before the first paint.
const chosen = localStorage.getItem("dragoman-theme");
if (chosen) document.documentElement.dataset.theme = chosen;
