CREATE TABLE "vitto_deploy_keys" (
	"id" uuid PRIMARY KEY NOT NULL,
	"user_id" uuid NOT NULL,
	"repository" text NOT NULL,
	"public_key" text NOT NULL,
	"key_id" text NOT NULL,
	"sealed" "bytea" NOT NULL,
	"host_keys" jsonb NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"last_used_at" timestamp with time zone,
	CONSTRAINT "vitto_deploy_keys_repository" UNIQUE("user_id","repository")
);
--> statement-breakpoint
ALTER TABLE "vitto_deploy_keys" ADD CONSTRAINT "vitto_deploy_keys_user_id_vitto_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."vitto_users"("id") ON DELETE cascade ON UPDATE no action;