"""`chainviz check`: the problems of each chain, its reports for CI, an error of an API in a chain, and reviews on a server."""
