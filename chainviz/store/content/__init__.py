"""What is stored of messages: uploads, runs, pieces of runs, bodies, and how they are read."""
