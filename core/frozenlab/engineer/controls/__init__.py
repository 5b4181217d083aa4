"""Controls of studies: engineers that replace or change another one. They are given in a study's file, with their settings."""
