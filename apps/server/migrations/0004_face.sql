CREATE TABLE "vitto_audit_events" (
	"seq" bigint PRIMARY KEY NOT NULL,
	"at" timestamp (3) with time zone NOT NULL,
	"actor_id" uuid,
	"via" text NOT NULL,
	"address" text,
	"action" text NOT NULL,
	"object_type" text,
	"object_id" text,
	"detail" json NOT NULL,
	"hash" "bytea" NOT NULL
);
--> statement-breakpoint
CREATE TABLE "vitto_audit_head" (
	"id" integer PRIMARY KEY NOT NULL,
	"seq" bigint NOT NULL,
	"hash" "bytea" NOT NULL,
	CONSTRAINT "vitto_audit_head_one" CHECK (id = 1)
);
--> statement-breakpoint
CREATE TABLE "vitto_daily_usage" (
	"user_id" uuid NOT NULL,
	"day" text NOT NULL,
	"model" text NOT NULL,
	"turns" integer DEFAULT 0 NOT NULL,
	"input_tokens" bigint DEFAULT 0 NOT NULL,
	"cached_input_tokens" bigint DEFAULT 0 NOT NULL,
	"output_tokens" bigint DEFAULT 0 NOT NULL,
	"cost_nano" bigint DEFAULT 0 NOT NULL,
	"unpriced_turns" integer DEFAULT 0 NOT NULL,
	CONSTRAINT "vitto_daily_usage_user_id_day_model_pk" PRIMARY KEY("user_id","day","model")
);
--> statement-breakpoint
CREATE TABLE "vitto_mcp_servers" (
	"id" uuid PRIMARY KEY NOT NULL,
	"user_id" uuid NOT NULL,
	"name" text NOT NULL,
	"transport" jsonb NOT NULL,
	"domain" text NOT NULL,
	"risk" text NOT NULL,
	"tool_choices" jsonb DEFAULT '{}'::jsonb NOT NULL,
	"is_enabled" boolean DEFAULT true NOT NULL,
	"approved_tools" jsonb DEFAULT '[]'::jsonb NOT NULL,
	"approved_hash" text,
	"offered_tools" jsonb,
	"offered_hash" text,
	"checked_at" timestamp (3) with time zone,
	"last_error" jsonb,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "vitto_mcp_servers_name" UNIQUE("user_id","name"),
	CONSTRAINT "vitto_mcp_servers_offered" CHECK ((offered_tools is null) = (offered_hash is null))
);
--> statement-breakpoint
CREATE TABLE "vitto_skill_files" (
	"skill_id" uuid NOT NULL,
	"path" text NOT NULL,
	"content" "bytea" NOT NULL,
	CONSTRAINT "vitto_skill_files_skill_id_path_pk" PRIMARY KEY("skill_id","path")
);
--> statement-breakpoint
CREATE TABLE "vitto_skills" (
	"id" uuid PRIMARY KEY NOT NULL,
	"user_id" uuid NOT NULL,
	"name" text NOT NULL,
	"description" text NOT NULL,
	"license" text,
	"text" text NOT NULL,
	"is_enabled" boolean DEFAULT true NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "vitto_skills_name" UNIQUE("user_id","name")
);
--> statement-breakpoint
CREATE TABLE "vitto_model_providers" (
	"name" text PRIMARY KEY NOT NULL,
	"key_id" text,
	"sealed" "bytea",
	"base_url" text,
	"updated_at" timestamp with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "vitto_secrets" (
	"user_id" uuid NOT NULL,
	"name" text NOT NULL,
	"key_id" text NOT NULL,
	"sealed" "bytea" NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp with time zone DEFAULT now() NOT NULL,
	"last_used_at" timestamp with time zone,
	CONSTRAINT "vitto_secrets_user_id_name_pk" PRIMARY KEY("user_id","name")
);
--> statement-breakpoint
CREATE TABLE "vitto_push_keys" (
	"id" integer PRIMARY KEY NOT NULL,
	"public_key" text NOT NULL,
	"key_id" text NOT NULL,
	"sealed_private_key" "bytea" NOT NULL,
	CONSTRAINT "vitto_push_keys_one" CHECK (id = 1)
);
--> statement-breakpoint
CREATE TABLE "vitto_push_subscriptions" (
	"id" uuid PRIMARY KEY NOT NULL,
	"user_id" uuid NOT NULL,
	"endpoint" text NOT NULL,
	"key_id" text NOT NULL,
	"sealed_keys" "bytea" NOT NULL,
	"browser" text NOT NULL,
	"position" bigint NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"last_sent_at" timestamp (3) with time zone,
	CONSTRAINT "vitto_push_subscriptions_endpoint_unique" UNIQUE("endpoint")
);
--> statement-breakpoint
CREATE TABLE "vitto_webhook_deliveries" (
	"id" uuid PRIMARY KEY NOT NULL,
	"webhook_id" uuid NOT NULL,
	"user_id" uuid NOT NULL,
	"position" bigint NOT NULL,
	"event" text NOT NULL,
	"body" json NOT NULL,
	"state" text DEFAULT 'pending' NOT NULL,
	"attempts" integer DEFAULT 0 NOT NULL,
	"last_status" integer,
	"last_error" text,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"next_attempt_at" timestamp (3) with time zone,
	"delivered_at" timestamp (3) with time zone,
	CONSTRAINT "vitto_webhook_deliveries_once" UNIQUE("webhook_id","position"),
	CONSTRAINT "vitto_webhook_deliveries_state" CHECK (state in ('pending', 'delivered', 'failed'))
);
--> statement-breakpoint
CREATE TABLE "vitto_webhooks" (
	"id" uuid PRIMARY KEY NOT NULL,
	"user_id" uuid NOT NULL,
	"url" text NOT NULL,
	"description" text DEFAULT '' NOT NULL,
	"events" jsonb NOT NULL,
	"key_id" text NOT NULL,
	"sealed_secret" "bytea" NOT NULL,
	"is_enabled" boolean DEFAULT true NOT NULL,
	"disabled_reason" text,
	"position" bigint NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
ALTER TABLE "vitto_api_tokens" ADD COLUMN "scopes" jsonb DEFAULT '["read","run","approve","manage"]'::jsonb NOT NULL;--> statement-breakpoint
ALTER TABLE "vitto_skill_files" ADD CONSTRAINT "vitto_skill_files_skill_id_vitto_skills_id_fk" FOREIGN KEY ("skill_id") REFERENCES "public"."vitto_skills"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "vitto_secrets" ADD CONSTRAINT "vitto_secrets_user_id_vitto_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."vitto_users"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "vitto_webhook_deliveries" ADD CONSTRAINT "vitto_webhook_deliveries_webhook_id_vitto_webhooks_id_fk" FOREIGN KEY ("webhook_id") REFERENCES "public"."vitto_webhooks"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "vitto_audit_events_actor" ON "vitto_audit_events" USING btree ("actor_id","seq" DESC NULLS LAST);--> statement-breakpoint
CREATE INDEX "vitto_audit_events_action" ON "vitto_audit_events" USING btree ("action","seq" DESC NULLS LAST);--> statement-breakpoint
CREATE INDEX "vitto_skill_files_skill" ON "vitto_skill_files" USING btree ("skill_id");--> statement-breakpoint
CREATE INDEX "vitto_push_subscriptions_user" ON "vitto_push_subscriptions" USING btree ("user_id");--> statement-breakpoint
CREATE INDEX "vitto_webhook_deliveries_recent" ON "vitto_webhook_deliveries" USING btree ("webhook_id","created_at" DESC NULLS LAST);--> statement-breakpoint
CREATE INDEX "vitto_webhook_deliveries_due" ON "vitto_webhook_deliveries" USING btree ("next_attempt_at") WHERE state = 'pending';--> statement-breakpoint
CREATE INDEX "vitto_webhooks_user" ON "vitto_webhooks" USING btree ("user_id");--> statement-breakpoint
CREATE INDEX "vitto_task_events_steps" ON "vitto_task_events" USING btree ("task_id","seq") WHERE type not in ('agent.text', 'agent.reasoning', 'tool.progress');