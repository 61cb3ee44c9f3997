"""Is it sound: doctor, check, timeline, diff, status."""
