"""The table of jobs is the queue: the tables of django-tasks-db, which was the queue before, go."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("jobs", "0001_initial")]

    operations = [
        migrations.RunSQL(
            [
                "DROP TABLE IF EXISTS django_tasks_database_dbtaskresult",
                "DELETE FROM django_migrations WHERE app = 'django_tasks_database'",
            ]
        ),
        migrations.RemoveIndex("job", "job_unfinished"),
        migrations.RemoveField("job", "heartbeat_at"),
        migrations.RemoveField("job", "task_id"),
        migrations.AlterField("job", "lease_until", models.DateTimeField(null=True)),
        migrations.AddIndex("job", models.Index(fields=["state", "lease_until"], name="job_state")),
    ]
