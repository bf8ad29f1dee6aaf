document.title = "Vis";
