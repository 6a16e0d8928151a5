"""What people touch: the command line, later the server and its pages."""
