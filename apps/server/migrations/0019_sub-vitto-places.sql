DROP INDEX "vitto_tasks_places";--> statement-breakpoint
CREATE INDEX "vitto_tasks_in_line" ON "vitto_tasks" USING btree ("user_id","created_at","id") WHERE kind = 'subvitto' and state = 'queued';--> statement-breakpoint
CREATE INDEX "vitto_tasks_places" ON "vitto_tasks" USING btree ("user_id") WHERE kind = 'subvitto' and state = 'running';