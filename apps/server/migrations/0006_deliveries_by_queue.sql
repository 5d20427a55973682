DROP INDEX "vitto_webhook_deliveries_due";--> statement-breakpoint
ALTER TABLE "vitto_webhook_deliveries" DROP COLUMN "next_attempt_at";