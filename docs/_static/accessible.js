// What axe-core finds in the theme: a search button whose name is not its text, and a link outside of all landmarks.
document.addEventListener("DOMContentLoaded", () => {
  for (const button of document.querySelectorAll("button.search-button-field")) button.removeAttribute("aria-label");
  const home = document.querySelector(".sidebar-primary-item:has(> .navbar-brand)");
  home?.setAttribute("role", "navigation");
  home?.setAttribute("aria-label", "Front page");
});
