"""Projects and folders: their tree and their avatars."""
