import django.core.validators
import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

from chainviz.store.checksums import protect_again


class Migration(migrations.Migration):
    initial = True

    replaces = [
        ("review", "0001_initial"),
        ("review", "0002_requests"),
        ("review", "0003_protect_sign_offs"),
        ("review", "0004_labels"),
        ("review", "0005_inbox"),
        ("review", "0006_label_places"),
        ("review", "0007_recipient"),
        ("review", "0008_external_writers"),
    ]

    dependencies = [
        ("store", "0001_squashed"),
        ("accounts", "0001_squashed"),
        ("chains", "0001_squashed"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="Discussion",
            fields=[
                ("checksum", models.BinaryField(null=True)),
                (
                    "chain",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="discussion",
                        serialize=False,
                        to="chains.chain",
                    ),
                ),
                ("threads_made", models.PositiveIntegerField(default=0)),
            ],
            options={"abstract": False, "base_manager_name": "objects"},
        ),
        migrations.CreateModel(
            name="MailChoice",
            fields=[
                (
                    "person",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="mail_choice",
                        serialize=False,
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                ("is_on", models.BooleanField(default=False)),
            ],
        ),
        migrations.CreateModel(
            name="Review",
            fields=[
                ("checksum", models.BinaryField(null=True)),
                (
                    "chain",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="review",
                        serialize=False,
                        to="chains.chain",
                    ),
                ),
            ],
            options={"abstract": False, "base_manager_name": "objects"},
        ),
        migrations.CreateModel(
            name="TeamRules",
            fields=[
                (
                    "team",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="review_rules",
                        serialize=False,
                        to="accounts.team",
                    ),
                ),
                (
                    "approvals",
                    models.PositiveSmallIntegerField(
                        default=1, validators=[django.core.validators.MinValueValidator(0), django.core.validators.MaxValueValidator(20)]
                    ),
                ),
                ("no_open_threads", models.BooleanField(default=True)),
                ("no_problems", models.BooleanField(default=False)),
                ("no_secrets", models.BooleanField(default=False)),
                ("locks_export", models.BooleanField(default=False)),
                ("external_writers", models.BooleanField(default=False)),
                ("edition", models.PositiveIntegerField(default=0)),
            ],
        ),
        migrations.CreateModel(
            name="Label",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("checksum", models.BinaryField(null=True)),
                ("version", models.PositiveIntegerField()),
                ("path", models.CharField(blank=True, default="", max_length=64)),
                ("kind", models.CharField(choices=[("tag", "Tag"), ("rating", "Rating"), ("outcome", "Pass or fail")], max_length=7)),
                ("name", models.CharField(blank=True, default="", max_length=40)),
                ("value", models.SmallIntegerField(null=True)),
                ("person_name", models.CharField(max_length=320)),
                ("at", models.DateTimeField()),
                ("chain", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="labels", to="chains.chain")),
                ("person", models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL)),
            ],
            options={"abstract": False, "base_manager_name": "objects"},
        ),
        migrations.CreateModel(
            name="LabelPlace",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("snapshot_key", models.BigIntegerField()),
                (
                    "state",
                    models.CharField(
                        choices=[("carried", "Carried"), ("outdated", "Outdated"), ("removed", "Removed"), ("folded", "Folded")],
                        max_length=8,
                    ),
                ),
                ("path", models.CharField(blank=True, default="", max_length=64)),
                ("message", models.IntegerField(null=True)),
                ("label", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="places", to="review.label")),
            ],
        ),
        migrations.CreateModel(
            name="Mute",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("chain", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="+", to="chains.chain")),
                ("person", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="+", to=settings.AUTH_USER_MODEL)),
            ],
        ),
        migrations.CreateModel(
            name="Presence",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("version", models.PositiveIntegerField()),
                ("seen_at", models.DateTimeField()),
                ("chain", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="+", to="chains.chain")),
                ("person", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="+", to=settings.AUTH_USER_MODEL)),
            ],
        ),
        migrations.CreateModel(
            name="ReviewRequest",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("checksum", models.BinaryField(null=True)),
                ("version", models.PositiveIntegerField()),
                ("purpose", models.TextField(blank=True, default="")),
                ("requested_by_name", models.CharField(max_length=320)),
                ("requested_at", models.DateTimeField()),
                ("closed_at", models.DateTimeField(null=True)),
                ("closed_by_name", models.CharField(blank=True, default="", max_length=320)),
                (
                    "chain",
                    models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="review_requests", to="chains.chain"),
                ),
                (
                    "requested_by",
                    models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL),
                ),
            ],
            options={"abstract": False, "base_manager_name": "objects"},
        ),
        migrations.CreateModel(
            name="Reviewer",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("checksum", models.BinaryField(null=True)),
                ("name", models.CharField(max_length=320)),
                ("version", models.PositiveIntegerField()),
                ("asked_at", models.DateTimeField()),
                ("person", models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL)),
                (
                    "request",
                    models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="reviewers", to="review.reviewrequest"),
                ),
            ],
            options={"abstract": False, "base_manager_name": "objects"},
        ),
        migrations.CreateModel(
            name="SignOff",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("checksum", models.BinaryField(null=True)),
                ("number", models.PositiveIntegerField()),
                ("chain_key", models.BigIntegerField(db_index=True)),
                ("version", models.PositiveIntegerField()),
                ("edition", models.IntegerField()),
                ("who_name", models.CharField(max_length=320)),
                ("at", models.DateTimeField()),
                ("format", models.CharField(max_length=40)),
                ("sha256", models.CharField(max_length=64)),
                ("size", models.BigIntegerField()),
                ("recipient", models.CharField(max_length=120, null=True)),
                ("packed", models.BinaryField()),
                ("team", models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name="sign_offs", to="accounts.team")),
                ("who", models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL)),
            ],
            options={"abstract": False, "base_manager_name": "objects"},
        ),
        migrations.CreateModel(
            name="Thread",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("checksum", models.BinaryField(null=True)),
                ("number", models.PositiveIntegerField()),
                ("version", models.PositiveIntegerField()),
                (
                    "kind",
                    models.CharField(choices=[("chain", "Chain"), ("node", "Node"), ("part", "Part"), ("text", "Text")], max_length=5),
                ),
                ("path", models.CharField(blank=True, default="", max_length=64)),
                ("start", models.PositiveIntegerField(null=True)),
                ("end", models.PositiveIntegerField(null=True)),
                ("quote", models.TextField(blank=True, default="")),
                ("created_at", models.DateTimeField()),
                ("resolved_at", models.DateTimeField(null=True)),
                ("resolved_by_name", models.CharField(blank=True, default="", max_length=320)),
                ("chain", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="threads", to="chains.chain")),
                (
                    "resolved_by",
                    models.ForeignKey(
                        null=True, on_delete=django.db.models.deletion.SET_NULL, related_name="+", to=settings.AUTH_USER_MODEL
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="Place",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("snapshot_key", models.BigIntegerField()),
                (
                    "state",
                    models.CharField(
                        choices=[("carried", "Carried"), ("outdated", "Outdated"), ("removed", "Removed"), ("folded", "Folded")],
                        max_length=8,
                    ),
                ),
                ("path", models.CharField(blank=True, default="", max_length=64)),
                ("message", models.IntegerField(null=True)),
                ("start", models.PositiveIntegerField(null=True)),
                ("end", models.PositiveIntegerField(null=True)),
                ("thread", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="places", to="review.thread")),
            ],
        ),
        migrations.CreateModel(
            name="Comment",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("checksum", models.BinaryField(null=True)),
                ("author_name", models.CharField(max_length=320)),
                ("body", models.TextField()),
                ("created_at", models.DateTimeField()),
                ("sent_at", models.DateTimeField(db_index=True, null=True)),
                ("edited_at", models.DateTimeField(null=True)),
                ("deleted_at", models.DateTimeField(null=True)),
                (
                    "author",
                    models.ForeignKey(
                        null=True, on_delete=django.db.models.deletion.SET_NULL, related_name="comments", to=settings.AUTH_USER_MODEL
                    ),
                ),
                ("thread", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="comments", to="review.thread")),
            ],
            options={"abstract": False, "base_manager_name": "objects"},
        ),
        migrations.CreateModel(
            name="Verdict",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("checksum", models.BinaryField(null=True)),
                ("version", models.PositiveIntegerField()),
                (
                    "kind",
                    models.CharField(choices=[("comment", "Comment"), ("changes", "Needs changes"), ("approve", "Approve")], max_length=8),
                ),
                ("summary", models.TextField(blank=True, default="")),
                ("name", models.CharField(max_length=320)),
                ("given_at", models.DateTimeField()),
                ("dismissed_at", models.DateTimeField(null=True)),
                ("dismissed_by_name", models.CharField(blank=True, default="", max_length=320)),
                ("dismissal", models.TextField(blank=True, default="")),
                (
                    "chain",
                    models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="review_verdicts", to="chains.chain"),
                ),
                ("person", models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL)),
            ],
            options={"abstract": False, "base_manager_name": "objects"},
        ),
        migrations.CreateModel(
            name="Notice",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "kind",
                    models.CharField(
                        choices=[
                            ("request", "Request"),
                            ("verdict", "Verdict"),
                            ("dismissed", "Dismissed"),
                            ("mention", "Mention"),
                            ("reply", "Reply"),
                        ],
                        max_length=9,
                    ),
                ),
                ("version", models.PositiveIntegerField()),
                ("actor_name", models.CharField(max_length=320)),
                ("at", models.DateTimeField()),
                ("read_at", models.DateTimeField(null=True)),
                ("chain", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="notices", to="chains.chain")),
                (
                    "comment",
                    models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name="notices", to="review.comment"),
                ),
                (
                    "person",
                    models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="notices", to=settings.AUTH_USER_MODEL),
                ),
                (
                    "request",
                    models.ForeignKey(
                        null=True, on_delete=django.db.models.deletion.CASCADE, related_name="notices", to="review.reviewrequest"
                    ),
                ),
                (
                    "verdict",
                    models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name="notices", to="review.verdict"),
                ),
            ],
        ),
        migrations.CreateModel(
            name="Viewed",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("mark", models.CharField(max_length=32)),
                ("chain", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="+", to="chains.chain")),
                ("person", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="+", to=settings.AUTH_USER_MODEL)),
            ],
        ),
        migrations.AddIndex(model_name="label", index=models.Index(fields=["kind", "name", "value"], name="chains_of_a_label")),
        migrations.AddConstraint(
            model_name="labelplace", constraint=models.UniqueConstraint(fields=("snapshot_key", "label"), name="place_once_a_label")
        ),
        migrations.AddConstraint(model_name="mute", constraint=models.UniqueConstraint(fields=("chain", "person"), name="muted_once")),
        migrations.AddConstraint(
            model_name="presence", constraint=models.UniqueConstraint(fields=("chain", "person"), name="present_once")
        ),
        migrations.AddConstraint(
            model_name="reviewrequest",
            constraint=models.UniqueConstraint(condition=models.Q(("closed_at", None)), fields=("chain",), name="one_open_request"),
        ),
        migrations.AddConstraint(
            model_name="reviewer", constraint=models.UniqueConstraint(fields=("request", "person"), name="reviewer_asked_once")
        ),
        migrations.AddConstraint(
            model_name="signoff", constraint=models.UniqueConstraint(fields=("team", "number"), name="sign_off_numbered_once")
        ),
        migrations.AddConstraint(
            model_name="thread", constraint=models.UniqueConstraint(fields=("chain", "number"), name="thread_numbered_once")
        ),
        migrations.AddIndex(model_name="place", index=models.Index(fields=["snapshot_key", "message"], name="places_of_a_window")),
        migrations.AddConstraint(
            model_name="place", constraint=models.UniqueConstraint(fields=("snapshot_key", "thread"), name="place_once_a_thread")
        ),
        migrations.AddIndex(model_name="notice", index=models.Index(fields=["person", "-id"], name="inbox_of_a_person")),
        migrations.AddConstraint(
            model_name="viewed", constraint=models.UniqueConstraint(fields=("chain", "person", "mark"), name="section_viewed_once")
        ),
        migrations.RunPython(protect_again("signoff", prefix="review_")),
    ]
