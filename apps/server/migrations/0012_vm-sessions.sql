CREATE SEQUENCE "public"."vitto_vm_user_number" INCREMENT BY 1 MINVALUE 0 MAXVALUE 59999 START WITH 0 CACHE 1 CYCLE;--> statement-breakpoint
CREATE TABLE "vitto_sandbox_hosts" (
	"id" text PRIMARY KEY NOT NULL,
	"name" text NOT NULL,
	"url" text,
	"holder" text NOT NULL,
	"heartbeat_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"provider" text NOT NULL,
	"accelerator" text,
	"capacity" integer NOT NULL,
	"running" integer DEFAULT 0 NOT NULL,
	"waiting" integer DEFAULT 0 NOT NULL,
	CONSTRAINT "vitto_sandbox_hosts_counts" CHECK (capacity >= 0 and running >= 0 and waiting >= 0)
);
--> statement-breakpoint
CREATE TABLE "vitto_vm_claims" (
	"session_id" uuid NOT NULL,
	"task_id" uuid NOT NULL,
	"user_id" uuid NOT NULL,
	"fence" bigint NOT NULL,
	"since" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"last_call_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "vitto_vm_claims_session_id_task_id_pk" PRIMARY KEY("session_id","task_id"),
	CONSTRAINT "vitto_vm_claims_fence" CHECK (fence >= 0)
);
--> statement-breakpoint
CREATE TABLE "vitto_vm_sessions" (
	"id" uuid PRIMARY KEY NOT NULL,
	"user_id" uuid NOT NULL,
	"template" text NOT NULL,
	"host_id" text NOT NULL,
	"state" text NOT NULL,
	"vm_id" uuid,
	"lease_holder" text,
	"lease_until" timestamp (3) with time zone,
	"fence" bigint DEFAULT 0 NOT NULL,
	"origin" text,
	"acquire_ms" integer,
	"stages" jsonb DEFAULT '[]'::jsonb NOT NULL,
	"user_number" integer DEFAULT nextval('vitto_vm_user_number') NOT NULL,
	"image_hash" text,
	"memory_mib" integer NOT NULL,
	"cpus" integer NOT NULL,
	"disk_gib" integer NOT NULL,
	"disk_bytes" bigint DEFAULT 0 NOT NULL,
	"snapshot_id" text,
	"snapshot_at" timestamp (3) with time zone,
	"snapshot_bytes" bigint,
	"lost_reason" text,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"started_at" timestamp (3) with time zone,
	"last_used_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"replaced_at" timestamp (3) with time zone,
	CONSTRAINT "vitto_vm_sessions_vm_id_unique" UNIQUE("vm_id"),
	CONSTRAINT "vitto_vm_sessions_user_number_unique" UNIQUE("user_number"),
	CONSTRAINT "vitto_vm_sessions_owner" UNIQUE("id","user_id"),
	CONSTRAINT "vitto_vm_sessions_state" CHECK (state in ('starting', 'running', 'suspending', 'suspended', 'lost')),
	CONSTRAINT "vitto_vm_sessions_vm" CHECK ((state in ('starting', 'running', 'suspending')) = (vm_id is not null)
        and (vm_id is null) = (lease_holder is null) and (vm_id is null) = (lease_until is null)),
	CONSTRAINT "vitto_vm_sessions_origin" CHECK (origin in ('session', 'user-snapshot', 'user-disk', 'base-snapshot', 'boot')),
	CONSTRAINT "vitto_vm_sessions_lost" CHECK ((state = 'lost') = (lost_reason is not null)),
	CONSTRAINT "vitto_vm_sessions_snapshot" CHECK ((snapshot_id is null) = (snapshot_at is null) and (snapshot_id is null) = (snapshot_bytes is null)),
	CONSTRAINT "vitto_vm_sessions_replaced" CHECK (replaced_at is null or vm_id is null),
	CONSTRAINT "vitto_vm_sessions_sizes" CHECK (memory_mib > 0 and cpus > 0 and disk_gib > 0 and disk_bytes >= 0 and snapshot_bytes >= 0),
	CONSTRAINT "vitto_vm_sessions_number" CHECK (user_number between 0 and 59999)
);
--> statement-breakpoint
ALTER TABLE "vitto_vm_claims" ADD CONSTRAINT "vitto_vm_claims_session_id_user_id_vitto_vm_sessions_id_user_id_fk" FOREIGN KEY ("session_id","user_id") REFERENCES "public"."vitto_vm_sessions"("id","user_id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "vitto_vm_sessions" ADD CONSTRAINT "vitto_vm_sessions_host_id_vitto_sandbox_hosts_id_fk" FOREIGN KEY ("host_id") REFERENCES "public"."vitto_sandbox_hosts"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE UNIQUE INDEX "vitto_vm_sessions_one" ON "vitto_vm_sessions" USING btree ("user_id","template") WHERE replaced_at is null;--> statement-breakpoint
CREATE INDEX "vitto_vm_sessions_host" ON "vitto_vm_sessions" USING btree ("host_id");--> statement-breakpoint
ALTER TABLE vitto_vm_sessions ADD CONSTRAINT vitto_vm_sessions_user_fk FOREIGN KEY (user_id) REFERENCES vitto_users(id) ON DELETE CASCADE;
