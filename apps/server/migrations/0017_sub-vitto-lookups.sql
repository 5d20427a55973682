DROP INDEX "vitto_tasks_queued";--> statement-breakpoint
CREATE INDEX "vitto_tasks_root" ON "vitto_tasks" USING btree ("root_id","created_at","id");--> statement-breakpoint
CREATE INDEX "vitto_tasks_queued" ON "vitto_tasks" USING btree ("created_at","id") WHERE state = 'queued' and kind <> 'subvitto';