DROP INDEX "vitto_approvals_recent";--> statement-breakpoint
DROP INDEX "vitto_conversations_recent";--> statement-breakpoint
DROP INDEX "vitto_tasks_recent";--> statement-breakpoint
ALTER TABLE "vitto_approvals" ALTER COLUMN "created_at" SET DATA TYPE timestamp (3) with time zone;--> statement-breakpoint
ALTER TABLE "vitto_approvals" ALTER COLUMN "created_at" SET DEFAULT now();--> statement-breakpoint
ALTER TABLE "vitto_approvals" ALTER COLUMN "expires_at" SET DATA TYPE timestamp (3) with time zone;--> statement-breakpoint
ALTER TABLE "vitto_approvals" ALTER COLUMN "decided_at" SET DATA TYPE timestamp (3) with time zone;--> statement-breakpoint
ALTER TABLE "vitto_approvals" ALTER COLUMN "used_at" SET DATA TYPE timestamp (3) with time zone;--> statement-breakpoint
ALTER TABLE "vitto_artifacts" ALTER COLUMN "created_at" SET DATA TYPE timestamp (3) with time zone;--> statement-breakpoint
ALTER TABLE "vitto_artifacts" ALTER COLUMN "created_at" SET DEFAULT now();--> statement-breakpoint
ALTER TABLE "vitto_conversations" ALTER COLUMN "created_at" SET DATA TYPE timestamp (3) with time zone;--> statement-breakpoint
ALTER TABLE "vitto_conversations" ALTER COLUMN "created_at" SET DEFAULT now();--> statement-breakpoint
ALTER TABLE "vitto_conversations" ALTER COLUMN "updated_at" SET DATA TYPE timestamp (3) with time zone;--> statement-breakpoint
ALTER TABLE "vitto_conversations" ALTER COLUMN "updated_at" SET DEFAULT now();--> statement-breakpoint
ALTER TABLE "vitto_task_events" ALTER COLUMN "at" SET DATA TYPE timestamp (3) with time zone;--> statement-breakpoint
ALTER TABLE "vitto_tasks" ALTER COLUMN "lease_until" SET DATA TYPE timestamp (3) with time zone;--> statement-breakpoint
ALTER TABLE "vitto_tasks" ALTER COLUMN "running_since" SET DATA TYPE timestamp (3) with time zone;--> statement-breakpoint
ALTER TABLE "vitto_tasks" ALTER COLUMN "created_at" SET DATA TYPE timestamp (3) with time zone;--> statement-breakpoint
ALTER TABLE "vitto_tasks" ALTER COLUMN "created_at" SET DEFAULT now();--> statement-breakpoint
ALTER TABLE "vitto_tasks" ALTER COLUMN "started_at" SET DATA TYPE timestamp (3) with time zone;--> statement-breakpoint
ALTER TABLE "vitto_tasks" ALTER COLUMN "ended_at" SET DATA TYPE timestamp (3) with time zone;--> statement-breakpoint
CREATE INDEX "vitto_approvals_recent" ON "vitto_approvals" USING btree ("user_id","state","created_at","id");--> statement-breakpoint
CREATE INDEX "vitto_conversations_recent" ON "vitto_conversations" USING btree ("user_id","updated_at","id");--> statement-breakpoint
CREATE INDEX "vitto_tasks_recent" ON "vitto_tasks" USING btree ("user_id","created_at","id");