CREATE TABLE "vitto_outcomes" (
	"task_id" uuid PRIMARY KEY NOT NULL,
	"user_id" uuid NOT NULL,
	"parent_task_id" uuid,
	"root_task_id" uuid NOT NULL,
	"title" text NOT NULL,
	"source" text NOT NULL,
	"role" text,
	"expert" text,
	"tier" text,
	"complexity" text NOT NULL,
	"domain" text NOT NULL,
	"tools_used" text[] NOT NULL,
	"end_state" text NOT NULL,
	"success" boolean NOT NULL,
	"verdict_source" text NOT NULL,
	"model" text,
	"iterations" integer NOT NULL,
	"tokens" bigint NOT NULL,
	"cost_nano" bigint,
	"duration_ms" bigint NOT NULL,
	"ended_at" timestamp (3) with time zone NOT NULL,
	"reported_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "vitto_outcomes_end" CHECK (end_state in ('completed', 'failed', 'cancelled')),
	CONSTRAINT "vitto_outcomes_verdict" CHECK (verdict_source in ('self', 'check', 'user')),
	CONSTRAINT "vitto_outcomes_self" CHECK (success is false or end_state = 'completed' or verdict_source <> 'self'),
	CONSTRAINT "vitto_outcomes_domain_known" CHECK (domain in ('code_execution', 'web_search', 'messaging', 'deployment', 'knowledge', 'delegation', 'system')),
	CONSTRAINT "vitto_outcomes_amounts" CHECK (iterations >= 0 and tokens >= 0 and cost_nano >= 0 and duration_ms >= 0)
);
--> statement-breakpoint
CREATE INDEX "vitto_outcomes_recent" ON "vitto_outcomes" USING btree ("user_id","ended_at","task_id");--> statement-breakpoint
CREATE INDEX "vitto_outcomes_parent" ON "vitto_outcomes" USING btree ("parent_task_id","ended_at","task_id") WHERE parent_task_id is not null;--> statement-breakpoint
CREATE INDEX "vitto_outcomes_domain" ON "vitto_outcomes" USING btree ("user_id","domain","ended_at");--> statement-breakpoint
CREATE INDEX "vitto_tasks_ended" ON "vitto_tasks" USING btree ("ended_at","id") WHERE ended_at is not null;--> statement-breakpoint
ALTER TABLE "vitto_outcomes" ADD CONSTRAINT "vitto_outcomes_user_id_vitto_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."vitto_users"("id") ON DELETE cascade ON UPDATE no action;
