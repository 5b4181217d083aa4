"""The measurement room: what configs can change in a student, measured before anybody is asked to engineer them."""
