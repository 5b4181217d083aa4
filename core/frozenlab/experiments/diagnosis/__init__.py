"""Diagnosis: does an engineer that is shown a student's evidence put its boards on the planted weakness? Nothing is trained."""
