"""Exports of chat applications and data sets of chats."""
