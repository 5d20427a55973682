-- Everything of a user goes with the user.
ALTER TABLE vitto_mcp_servers ADD CONSTRAINT vitto_mcp_servers_user_fk FOREIGN KEY (user_id) REFERENCES vitto_users(id) ON DELETE CASCADE;
--> statement-breakpoint
ALTER TABLE vitto_skills ADD CONSTRAINT vitto_skills_user_fk FOREIGN KEY (user_id) REFERENCES vitto_users(id) ON DELETE CASCADE;
--> statement-breakpoint
ALTER TABLE vitto_webhooks ADD CONSTRAINT vitto_webhooks_user_fk FOREIGN KEY (user_id) REFERENCES vitto_users(id) ON DELETE CASCADE;
--> statement-breakpoint
ALTER TABLE vitto_webhook_deliveries ADD CONSTRAINT vitto_webhook_deliveries_user_fk FOREIGN KEY (user_id) REFERENCES vitto_users(id) ON DELETE CASCADE;
--> statement-breakpoint
ALTER TABLE vitto_push_subscriptions ADD CONSTRAINT vitto_push_subscriptions_user_fk FOREIGN KEY (user_id) REFERENCES vitto_users(id) ON DELETE CASCADE;
--> statement-breakpoint
ALTER TABLE vitto_daily_usage ADD CONSTRAINT vitto_daily_usage_user_fk FOREIGN KEY (user_id) REFERENCES vitto_users(id) ON DELETE CASCADE;
