-- Search over what people wrote and what tasks resulted in. The expression is the one of search.store.ts, letter by
-- letter: the planner compares them. 'simple' knows no language, so it never loses a word of one. Of a long text the
-- first 100,000 characters are found: more would pass what one vector may hold.
CREATE INDEX vitto_task_events_search ON vitto_task_events
  USING gin (to_tsvector('simple'::regconfig, left(coalesce(payload->>'text', payload->>'result', ''), 100000)))
  WHERE type IN ('user.message', 'task.completed');
--> statement-breakpoint
-- Edits: the few messages that stand in for others.
CREATE INDEX vitto_task_events_replacing ON vitto_task_events (conversation_id, position)
  WHERE type = 'user.message' AND payload->>'replaces' IS NOT NULL;
