"""The chains of a team: the library, uploads, versions and the explorer. The app store stores their content."""
