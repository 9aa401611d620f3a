"""May this judge replace a person, and what is the true share? Numbers out of votes of people and judges.

One function a figure, each giving plain records: `standings` (the test and a ranking), `estimates` (judge, people,
corrected), `confusion`, `calibration`, `disagreements`; `units_for_width`, `units_for_test` and `draw` plan a sample,
`agreement_with_people` is what gates look at.
"""
