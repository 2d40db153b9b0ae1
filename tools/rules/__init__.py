"""The rules of the house, a file for each subject. `tools.house` holds the table of them, with the reasons."""
