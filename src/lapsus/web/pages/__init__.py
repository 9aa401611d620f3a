"""The pages of the workbench, a folder each: records, what fills them, routes and templates."""
