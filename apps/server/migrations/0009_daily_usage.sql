-- The day of a time as its owner's calendar has it. A zone is a name (Europe/Madrid) or an offset (+05:30, which
-- PostgreSQL would read the other way round as a name); UTC where it is neither.
CREATE FUNCTION vitto_day_in(p_at timestamptz, p_zone text) RETURNS text LANGUAGE plpgsql STABLE AS $$
BEGIN
  IF p_zone IS NULL OR p_zone = 'UTC' THEN
    RETURN to_char(p_at AT TIME ZONE 'UTC', 'YYYY-MM-DD');
  ELSIF p_zone ~ '^[+-]\d\d:?\d\d$' THEN
    RETURN to_char(p_at AT TIME ZONE p_zone::interval, 'YYYY-MM-DD');
  ELSIF p_zone ~ '^[A-Za-z]' THEN
    RETURN to_char(p_at AT TIME ZONE p_zone, 'YYYY-MM-DD');
  END IF;
  RETURN to_char(p_at AT TIME ZONE 'UTC', 'YYYY-MM-DD');
EXCEPTION WHEN invalid_parameter_value OR invalid_datetime_format OR datetime_field_overflow THEN
  RETURN to_char(p_at AT TIME ZONE 'UTC', 'YYYY-MM-DD');
END $$;
--> statement-breakpoint

-- Sums a turn up on its user's day as it is journaled. Runs inside the write of the journal, after the user's position
-- is locked: the row here is locked last, always, so that nobody waits in a circle.
CREATE FUNCTION vitto_sum_up_turn() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO vitto_daily_usage AS d
    (user_id, day, model, turns, input_tokens, cached_input_tokens, output_tokens, cost_nano, unpriced_turns)
  SELECT NEW.user_id,
      vitto_day_in(NEW.at, (SELECT settings->>'timeZone' FROM vitto_user_settings WHERE user_id = NEW.user_id)),
      coalesce(turn.model, ''), 1, coalesce(used."inputTokens", 0), coalesce(used."cachedInputTokens", 0), coalesce(used."outputTokens", 0),
      coalesce(round(turn."costUsd" * 1e9), 0), (turn."costUsd" IS NULL)::int
    FROM json_to_record(NEW.payload) AS turn(model text, usage json, "costUsd" numeric),
      json_to_record(turn.usage) AS used("inputTokens" bigint, "cachedInputTokens" bigint, "outputTokens" bigint)
  ON CONFLICT (user_id, day, model) DO UPDATE SET
    turns = d.turns + 1,
    input_tokens = d.input_tokens + excluded.input_tokens,
    cached_input_tokens = d.cached_input_tokens + excluded.cached_input_tokens,
    output_tokens = d.output_tokens + excluded.output_tokens,
    cost_nano = d.cost_nano + excluded.cost_nano,
    unpriced_turns = d.unpriced_turns + excluded.unpriced_turns;
  RETURN NULL;
END $$;
--> statement-breakpoint
CREATE TRIGGER vitto_sum_up_turns AFTER INSERT ON vitto_task_events
  FOR EACH ROW WHEN (NEW.type = 'agent.turn_completed') EXECUTE FUNCTION vitto_sum_up_turn();
--> statement-breakpoint
ALTER TABLE vitto_daily_usage SET (fillfactor = 50);
--> statement-breakpoint

-- What was journaled before there was anybody to sum it up.
INSERT INTO vitto_daily_usage
  (user_id, day, model, turns, input_tokens, cached_input_tokens, output_tokens, cost_nano, unpriced_turns)
SELECT e.user_id, vitto_day_in(e.at, s.settings->>'timeZone'), coalesce(turn.model, ''), count(*), coalesce(sum(used."inputTokens"), 0),
    coalesce(sum(used."cachedInputTokens"), 0), coalesce(sum(used."outputTokens"), 0), coalesce(sum(round(turn."costUsd" * 1e9)), 0),
    count(*) FILTER (WHERE turn."costUsd" IS NULL)
  FROM vitto_task_events e LEFT JOIN vitto_user_settings s ON s.user_id = e.user_id,
    json_to_record(e.payload) AS turn(model text, usage json, "costUsd" numeric),
    json_to_record(turn.usage) AS used("inputTokens" bigint, "cachedInputTokens" bigint, "outputTokens" bigint)
  WHERE e.type = 'agent.turn_completed'
  GROUP BY 1, 2, 3;
