"""Export and import on pages."""
