"""Addresses of recipes and word lists."""

from __future__ import annotations

from django.urls import path

from chainviz.recipes import views

app_name = "recipes"

urlpatterns = [
    path("", views.home, name="home"),
    path("<int:recipe_id>/", views.recipe, name="recipe"),
    path("<int:recipe_id>/steps/<int:position>/", views.step, name="step"),
    path("<int:recipe_id>/recipe.json", views.download, name="download"),
    path("word-lists/new/", views.word_list, name="new_list"),
    path("word-lists/<int:list_id>/", views.word_list, name="word_list"),
]
