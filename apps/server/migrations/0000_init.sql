CREATE TABLE "vitto_idempotency_keys" (
	"user_id" uuid NOT NULL,
	"key" text NOT NULL,
	"request_hash" text NOT NULL,
	"status" integer,
	"body" jsonb,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "vitto_idempotency_keys_user_id_key_pk" PRIMARY KEY("user_id","key")
);
--> statement-breakpoint
CREATE TABLE "vitto_approvals" (
	"id" uuid PRIMARY KEY NOT NULL,
	"task_id" uuid NOT NULL,
	"user_id" uuid NOT NULL,
	"call_id" text NOT NULL,
	"tool" text NOT NULL,
	"arguments" json NOT NULL,
	"arguments_hash" text NOT NULL,
	"reason" text NOT NULL,
	"risk" text NOT NULL,
	"domain" text NOT NULL,
	"state" text NOT NULL,
	"note" text,
	"decided_by" text,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"expires_at" timestamp with time zone NOT NULL,
	"decided_at" timestamp with time zone,
	"used_at" timestamp with time zone,
	CONSTRAINT "vitto_approvals_call" UNIQUE("task_id","call_id"),
	CONSTRAINT "vitto_approvals_state" CHECK (state in ('pending', 'approved', 'refused', 'expired', 'void')),
	CONSTRAINT "vitto_approvals_decided" CHECK ((state = 'pending') = (decided_at is null)),
	CONSTRAINT "vitto_approvals_used" CHECK (used_at is null or state = 'approved')
);
--> statement-breakpoint
CREATE TABLE "vitto_artifact_chunks" (
	"artifact_id" uuid NOT NULL,
	"index" integer NOT NULL,
	"offset" bigint NOT NULL,
	"content" "bytea" NOT NULL,
	CONSTRAINT "vitto_artifact_chunks_artifact_id_index_pk" PRIMARY KEY("artifact_id","index")
);
--> statement-breakpoint
CREATE TABLE "vitto_artifacts" (
	"id" uuid PRIMARY KEY NOT NULL,
	"user_id" uuid NOT NULL,
	"task_id" uuid,
	"name" text NOT NULL,
	"media_type" text NOT NULL,
	"bytes" bigint DEFAULT 0 NOT NULL,
	"is_truncated" boolean DEFAULT false NOT NULL,
	"is_complete" boolean DEFAULT false NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "vitto_conversations" (
	"id" uuid PRIMARY KEY NOT NULL,
	"user_id" uuid NOT NULL,
	"title" text NOT NULL,
	"allowed_paths" jsonb DEFAULT '[]'::jsonb NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "vitto_daily_spending" (
	"user_id" uuid NOT NULL,
	"day" text NOT NULL,
	"cost_nano" bigint DEFAULT 0 NOT NULL,
	"reserved_cost_nano" bigint DEFAULT 0 NOT NULL,
	CONSTRAINT "vitto_daily_spending_user_id_day_pk" PRIMARY KEY("user_id","day")
);
--> statement-breakpoint
CREATE TABLE "vitto_journal_positions" (
	"user_id" uuid PRIMARY KEY NOT NULL,
	"position" bigint DEFAULT 0 NOT NULL
);
--> statement-breakpoint
CREATE TABLE "vitto_task_events" (
	"task_id" uuid NOT NULL,
	"seq" integer NOT NULL,
	"user_id" uuid NOT NULL,
	"position" bigint NOT NULL,
	"conversation_id" uuid,
	"type" text NOT NULL,
	"payload" json NOT NULL,
	"at" timestamp with time zone NOT NULL,
	CONSTRAINT "vitto_task_events_task_id_seq_pk" PRIMARY KEY("task_id","seq"),
	CONSTRAINT "vitto_task_events_position" UNIQUE("user_id","position")
);
--> statement-breakpoint
CREATE TABLE "vitto_tasks" (
	"id" uuid PRIMARY KEY NOT NULL,
	"user_id" uuid NOT NULL,
	"space_id" uuid,
	"universe_id" uuid,
	"parent_id" uuid,
	"root_id" uuid NOT NULL,
	"depth" integer NOT NULL,
	"kind" text NOT NULL,
	"role" text,
	"conversation_id" uuid,
	"title" text NOT NULL,
	"state" text NOT NULL,
	"waiting_for" jsonb,
	"tier" text,
	"complexity" text NOT NULL,
	"estimated_duration" text NOT NULL,
	"allowed_paths" jsonb DEFAULT '[]'::jsonb NOT NULL,
	"model" text,
	"is_tainted" boolean DEFAULT false NOT NULL,
	"seq" integer DEFAULT 0 NOT NULL,
	"fence" bigint DEFAULT 0 NOT NULL,
	"lease_holder" text,
	"lease_until" timestamp with time zone,
	"deaths" integer DEFAULT 0 NOT NULL,
	"max_iterations" integer NOT NULL,
	"max_tokens" bigint,
	"max_cost_nano" bigint,
	"max_duration_ms" bigint,
	"iterations" integer DEFAULT 0 NOT NULL,
	"tokens" bigint DEFAULT 0 NOT NULL,
	"reserved_tokens" bigint DEFAULT 0 NOT NULL,
	"cost_nano" bigint DEFAULT 0 NOT NULL,
	"reserved_cost_nano" bigint DEFAULT 0 NOT NULL,
	"own_reserved_tokens" bigint DEFAULT 0 NOT NULL,
	"own_reserved_cost_nano" bigint DEFAULT 0 NOT NULL,
	"reserved_day" text,
	"is_cost_known" boolean DEFAULT true NOT NULL,
	"ran_ms" bigint DEFAULT 0 NOT NULL,
	"running_since" timestamp with time zone,
	"result" text,
	"is_success" boolean,
	"error" jsonb,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"started_at" timestamp with time zone,
	"ended_at" timestamp with time zone,
	CONSTRAINT "vitto_tasks_state" CHECK (state in ('queued', 'running', 'waiting_approval', 'waiting_children', 'waiting_input', 'completed', 'failed', 'cancelled')),
	CONSTRAINT "vitto_tasks_depth" CHECK (depth between 0 and 2 and (depth = 0) = (parent_id is null)),
	CONSTRAINT "vitto_tasks_lease" CHECK ((state = 'running') = (lease_holder is not null and lease_until is not null)),
	CONSTRAINT "vitto_tasks_waiting" CHECK ((state like 'waiting%') = (waiting_for is not null)),
	CONSTRAINT "vitto_tasks_ended" CHECK ((state in ('completed', 'failed', 'cancelled')) = (ended_at is not null)),
	CONSTRAINT "vitto_tasks_spending" CHECK (iterations >= 0 and tokens >= 0 and reserved_tokens >= 0 and cost_nano >= 0 and reserved_cost_nano >= 0)
);
--> statement-breakpoint
CREATE TABLE "vitto_api_tokens" (
	"id" uuid PRIMARY KEY NOT NULL,
	"user_id" uuid NOT NULL,
	"name" text NOT NULL,
	"token_hash" text NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"last_used_at" timestamp with time zone,
	"expires_at" timestamp with time zone,
	CONSTRAINT "vitto_api_tokens_token_hash_unique" UNIQUE("token_hash")
);
--> statement-breakpoint
CREATE TABLE "vitto_sessions" (
	"token_hash" text PRIMARY KEY NOT NULL,
	"user_id" uuid NOT NULL,
	"csrf_token" text NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"last_seen_at" timestamp with time zone DEFAULT now() NOT NULL,
	"expires_at" timestamp with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "vitto_sign_in_codes" (
	"code_hash" text PRIMARY KEY NOT NULL,
	"user_id" uuid NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"expires_at" timestamp with time zone NOT NULL,
	"used_at" timestamp with time zone
);
--> statement-breakpoint
CREATE TABLE "vitto_user_settings" (
	"user_id" uuid PRIMARY KEY NOT NULL,
	"settings" jsonb NOT NULL,
	"updated_at" timestamp with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "vitto_users" (
	"id" uuid PRIMARY KEY NOT NULL,
	"name" text NOT NULL,
	"role" text NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "vitto_users_role" CHECK ("vitto_users"."role" in ('owner', 'admin', 'member', 'viewer'))
);
--> statement-breakpoint
CREATE TABLE "vitto_processes" (
	"id" text PRIMARY KEY NOT NULL,
	"host" text NOT NULL,
	"pid" integer NOT NULL,
	"roles" jsonb NOT NULL,
	"version" text NOT NULL,
	"started_at" timestamp with time zone DEFAULT now() NOT NULL,
	"heartbeat_at" timestamp with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
ALTER TABLE "vitto_approvals" ADD CONSTRAINT "vitto_approvals_task_id_vitto_tasks_id_fk" FOREIGN KEY ("task_id") REFERENCES "public"."vitto_tasks"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "vitto_artifact_chunks" ADD CONSTRAINT "vitto_artifact_chunks_artifact_id_vitto_artifacts_id_fk" FOREIGN KEY ("artifact_id") REFERENCES "public"."vitto_artifacts"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "vitto_artifacts" ADD CONSTRAINT "vitto_artifacts_task_id_vitto_tasks_id_fk" FOREIGN KEY ("task_id") REFERENCES "public"."vitto_tasks"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "vitto_task_events" ADD CONSTRAINT "vitto_task_events_task_id_vitto_tasks_id_fk" FOREIGN KEY ("task_id") REFERENCES "public"."vitto_tasks"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "vitto_tasks" ADD CONSTRAINT "vitto_tasks_conversation_id_vitto_conversations_id_fk" FOREIGN KEY ("conversation_id") REFERENCES "public"."vitto_conversations"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "vitto_tasks" ADD CONSTRAINT "vitto_tasks_parent_id_vitto_tasks_id_fk" FOREIGN KEY ("parent_id") REFERENCES "public"."vitto_tasks"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "vitto_api_tokens" ADD CONSTRAINT "vitto_api_tokens_user_id_vitto_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."vitto_users"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "vitto_sessions" ADD CONSTRAINT "vitto_sessions_user_id_vitto_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."vitto_users"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "vitto_sign_in_codes" ADD CONSTRAINT "vitto_sign_in_codes_user_id_vitto_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."vitto_users"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "vitto_user_settings" ADD CONSTRAINT "vitto_user_settings_user_id_vitto_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."vitto_users"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "vitto_approvals_recent" ON "vitto_approvals" USING btree ("user_id","state","created_at" DESC NULLS LAST,"id");--> statement-breakpoint
CREATE INDEX "vitto_approvals_due" ON "vitto_approvals" USING btree ("expires_at") WHERE state = 'pending';--> statement-breakpoint
CREATE INDEX "vitto_artifacts_task" ON "vitto_artifacts" USING btree ("task_id","id");--> statement-breakpoint
CREATE INDEX "vitto_conversations_recent" ON "vitto_conversations" USING btree ("user_id","updated_at" DESC NULLS LAST,"id");--> statement-breakpoint
CREATE INDEX "vitto_task_events_conversation" ON "vitto_task_events" USING btree ("conversation_id","position") WHERE type not in ('agent.text', 'agent.reasoning', 'tool.progress');--> statement-breakpoint
CREATE UNIQUE INDEX "vitto_tasks_one_active" ON "vitto_tasks" USING btree ("conversation_id") WHERE parent_id is null and state not in ('completed', 'failed', 'cancelled');--> statement-breakpoint
CREATE INDEX "vitto_tasks_recent" ON "vitto_tasks" USING btree ("user_id","created_at" DESC NULLS LAST,"id");--> statement-breakpoint
CREATE INDEX "vitto_tasks_conversation" ON "vitto_tasks" USING btree ("conversation_id","created_at");--> statement-breakpoint
CREATE INDEX "vitto_tasks_parent" ON "vitto_tasks" USING btree ("parent_id") WHERE parent_id is not null;--> statement-breakpoint
CREATE INDEX "vitto_tasks_open" ON "vitto_tasks" USING btree ("state","lease_until") WHERE state in ('queued', 'running', 'waiting_approval', 'waiting_children', 'waiting_input');--> statement-breakpoint
CREATE INDEX "vitto_api_tokens_user" ON "vitto_api_tokens" USING btree ("user_id");--> statement-breakpoint
CREATE INDEX "vitto_sessions_user" ON "vitto_sessions" USING btree ("user_id");