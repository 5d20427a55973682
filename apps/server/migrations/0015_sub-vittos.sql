ALTER TABLE "vitto_tasks" ADD COLUMN "round" integer;--> statement-breakpoint
ALTER TABLE "vitto_tasks" ADD COLUMN "index" integer;--> statement-breakpoint
ALTER TABLE "vitto_tasks" ADD COLUMN "depends_on" uuid[] DEFAULT '{}' NOT NULL;--> statement-breakpoint
ALTER TABLE "vitto_tasks" ADD COLUMN "tools" text[];--> statement-breakpoint
ALTER TABLE "vitto_tasks" ADD COLUMN "below_tokens" bigint DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "vitto_tasks" ADD COLUMN "below_reserved_tokens" bigint DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "vitto_tasks" ADD COLUMN "below_cost_nano" bigint DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "vitto_tasks" ADD COLUMN "below_reserved_cost_nano" bigint DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "vitto_tasks" ADD COLUMN "below_max_tokens" bigint;--> statement-breakpoint
ALTER TABLE "vitto_tasks" ADD COLUMN "below_max_cost_nano" bigint;--> statement-breakpoint
CREATE INDEX "vitto_tasks_places" ON "vitto_tasks" USING btree ("user_id","created_at","id") WHERE kind = 'subvitto' and state in ('queued', 'running');--> statement-breakpoint
ALTER TABLE "vitto_tasks" ADD CONSTRAINT "vitto_tasks_place" UNIQUE("parent_id","round","index");--> statement-breakpoint
ALTER TABLE "vitto_tasks" ADD CONSTRAINT "vitto_tasks_below" CHECK (below_tokens between 0 and tokens and below_reserved_tokens between 0 and reserved_tokens and below_cost_nano between 0 and cost_nano and below_reserved_cost_nano between 0 and reserved_cost_nano);
--> statement-breakpoint
-- What tasks of before have below them is booked where it is read from now on.
UPDATE vitto_tasks AS t SET below_tokens = least(t.tokens, b.tokens), below_cost_nano = least(t.cost_nano, b.cost)
  FROM (SELECT parent_id, sum(tokens)::bigint AS tokens, sum(cost_nano)::bigint AS cost FROM vitto_tasks WHERE parent_id IS NOT NULL GROUP BY parent_id) AS b
  WHERE b.parent_id = t.id;
--> statement-breakpoint

-- Gives back what a call had reserved and books what it really used, on the task and all its ancestors.
-- p_settle: {reservedTokens, reservedCost, tokens, cost|null}; money in billionths of a dollar.
-- What is given back never exceeds what the task itself holds. On the ancestors it is also booked as theirs below.
CREATE OR REPLACE FUNCTION vitto_settle(p_task uuid, p_settle json) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  chain uuid[] := vitto_lock_chain(p_task);
  own vitto_tasks;
  back_tokens bigint;
  back_cost bigint;
BEGIN
  SELECT * INTO own FROM vitto_tasks WHERE id = p_task;
  back_tokens := least((p_settle->>'reservedTokens')::bigint, own.own_reserved_tokens);
  back_cost := least((p_settle->>'reservedCost')::bigint, own.own_reserved_cost_nano);
  UPDATE vitto_tasks SET
    reserved_tokens = reserved_tokens - back_tokens,
    reserved_cost_nano = reserved_cost_nano - back_cost,
    own_reserved_tokens = own_reserved_tokens - CASE WHEN id = p_task THEN back_tokens ELSE 0 END,
    own_reserved_cost_nano = own_reserved_cost_nano - CASE WHEN id = p_task THEN back_cost ELSE 0 END,
    below_reserved_tokens = below_reserved_tokens - CASE WHEN id = p_task THEN 0 ELSE back_tokens END,
    below_reserved_cost_nano = below_reserved_cost_nano - CASE WHEN id = p_task THEN 0 ELSE back_cost END,
    below_tokens = below_tokens + CASE WHEN id = p_task THEN 0 ELSE (p_settle->>'tokens')::bigint END,
    below_cost_nano = below_cost_nano + CASE WHEN id = p_task THEN 0 ELSE coalesce((p_settle->>'cost')::bigint, 0) END,
    tokens = tokens + (p_settle->>'tokens')::bigint,
    cost_nano = cost_nano + coalesce((p_settle->>'cost')::bigint, 0),
    is_cost_known = is_cost_known AND (p_settle->>'cost') IS NOT NULL
  WHERE id = ANY(chain);
  IF own.reserved_day IS NOT NULL THEN
    UPDATE vitto_daily_spending SET
      reserved_cost_nano = greatest(0, reserved_cost_nano - back_cost),
      cost_nano = cost_nano + coalesce((p_settle->>'cost')::bigint, 0)
    WHERE user_id = own.user_id AND day = own.reserved_day;
  END IF;
END $$;
--> statement-breakpoint

-- The only writer of the journal. Numbers, fences and budgets are kept here, in one round trip and one transaction.
--   p_fence     the owner's fencing number, or null for a writer that is not the owner
--   p_events    [{type, payload}], written in any case
--   p_settle    what a call gives back and has really used, as of vitto_settle, or null
--   p_reserve   {tokens, cost, day, dailyLimit|null}: the price of the next call, reserved on the task and all its
--               ancestors, all or nothing; or null
--   p_then      [{type, payload}], written after p_events unless the reservation is refused
--   p_iteration the iteration that p_then begins, or null
-- refusal: null, or {budget, limit, spent, ofTaskId} of the limit that the reservation would pass.
-- Errors: VT001 the writer is no longer the owner; VT002 no such task; VT003 a type that only the owner may write.
-- Lock order: task rows (the task, then its ancestors), the day, the user's position last.
CREATE OR REPLACE FUNCTION vitto_append(
  p_task uuid, p_fence bigint, p_events json, p_settle json DEFAULT NULL, p_reserve json DEFAULT NULL, p_then json DEFAULT '[]',
  p_iteration integer DEFAULT NULL,
  OUT first_seq integer, OUT last_position bigint, OUT refusal json
) LANGUAGE plpgsql AS $$
DECLARE
  own record;
  t record;
  chain uuid[];
  n integer;
  stranger text;
  -- What changes in each row of the chain.
  back_tokens bigint := 0;
  back_cost bigint := 0;
  used_tokens bigint := 0;
  used_cost bigint := 0;
  is_priced boolean := true;
  wanted_tokens bigint := 0;
  wanted_cost bigint := 0;
  today record;
BEGIN
  SELECT user_id, conversation_id, parent_id, fence, state, own_reserved_tokens, own_reserved_cost_nano, reserved_day INTO own
    FROM vitto_tasks WHERE id = p_task FOR NO KEY UPDATE;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'there is no task %', p_task USING ERRCODE = 'VT002';
  END IF;
  IF p_fence IS NULL THEN
    SELECT e->>'type' INTO stranger FROM json_array_elements(p_events) e
      WHERE NOT (e->>'type' = ANY ('{user.message,task.created,task.queued,approval.decided,subvitto.completed,subvitto.failed,subvitto.progress,subvitto.vm_acquired,subvitto.vm_degraded,trust.updated,trigger.detected,trigger.suggested,trigger.executed,trigger.disabled,evolution.drift,evolution.visual}'::text[])) LIMIT 1;
    IF stranger IS NOT NULL THEN
      RAISE EXCEPTION 'only the owner of a task writes %', stranger USING ERRCODE = 'VT003';
    END IF;
  ELSIF own.fence <> p_fence OR own.state <> 'running' THEN
    RAISE EXCEPTION 'task % has another owner', p_task USING ERRCODE = 'VT001';
  END IF;

  chain := ARRAY[p_task];
  IF own.parent_id IS NOT NULL AND (p_settle IS NOT NULL OR p_reserve IS NOT NULL) THEN
    chain := vitto_lock_chain(p_task);
  END IF;
  IF p_settle IS NOT NULL THEN
    back_tokens := least((p_settle->>'reservedTokens')::bigint, own.own_reserved_tokens);
    back_cost := least((p_settle->>'reservedCost')::bigint, own.own_reserved_cost_nano);
    used_tokens := (p_settle->>'tokens')::bigint;
    used_cost := coalesce((p_settle->>'cost')::bigint, 0);
    is_priced := (p_settle->>'cost') IS NOT NULL;
    IF own.reserved_day IS NOT NULL AND (back_cost > 0 OR used_cost > 0) THEN
      UPDATE vitto_daily_spending SET reserved_cost_nano = greatest(0, reserved_cost_nano - back_cost), cost_nano = cost_nano + used_cost
        WHERE user_id = own.user_id AND day = own.reserved_day;
    END IF;
  END IF;
  IF p_reserve IS NOT NULL THEN
    wanted_tokens := (p_reserve->>'tokens')::bigint;
    wanted_cost := (p_reserve->>'cost')::bigint;
    -- Each task's own limits, and on the ancestors what all below them together may spend.
    FOR t IN SELECT id, max_tokens, max_cost_nano, tokens + reserved_tokens + used_tokens - back_tokens AS tokens,
          cost_nano + reserved_cost_nano + used_cost - back_cost AS cost FROM vitto_tasks WHERE id = ANY(chain)
        UNION ALL
        SELECT id, below_max_tokens, below_max_cost_nano, below_tokens + below_reserved_tokens + used_tokens - back_tokens,
          below_cost_nano + below_reserved_cost_nano + used_cost - back_cost FROM vitto_tasks
          WHERE id = ANY(chain[2:]) AND (below_max_tokens IS NOT NULL OR below_max_cost_nano IS NOT NULL) LOOP
      IF t.tokens + wanted_tokens > t.max_tokens THEN
        refusal := json_build_object('budget', 'tokens', 'limit', t.max_tokens, 'spent', t.tokens, 'ofTaskId', t.id);
      ELSIF t.cost + wanted_cost > t.max_cost_nano THEN
        refusal := json_build_object('budget', 'cost', 'limit', t.max_cost_nano / 1e9, 'spent', t.cost / 1e9, 'ofTaskId', t.id);
      END IF;
      EXIT WHEN refusal IS NOT NULL;
    END LOOP;
    IF refusal IS NULL AND wanted_cost > 0 THEN
      INSERT INTO vitto_daily_spending (user_id, day) VALUES (own.user_id, p_reserve->>'day') ON CONFLICT DO NOTHING;
      SELECT cost_nano + reserved_cost_nano AS cost INTO today FROM vitto_daily_spending
        WHERE user_id = own.user_id AND day = p_reserve->>'day' FOR NO KEY UPDATE;
      IF today.cost + wanted_cost > (p_reserve->>'dailyLimit')::bigint THEN
        refusal := json_build_object('budget', 'cost', 'limit', (p_reserve->>'dailyLimit')::bigint / 1e9, 'spent', today.cost / 1e9,
          'ofTaskId', p_task, 'day', p_reserve->>'day');
      ELSE
        UPDATE vitto_daily_spending SET reserved_cost_nano = reserved_cost_nano + wanted_cost
          WHERE user_id = own.user_id AND day = p_reserve->>'day';
      END IF;
    END IF;
    IF refusal IS NOT NULL THEN
      wanted_tokens := 0;
      wanted_cost := 0;
      p_then := '[]';
      p_iteration := NULL;
      p_reserve := NULL;
    END IF;
  END IF;

  n := json_array_length(p_events) + json_array_length(p_then);
  UPDATE vitto_tasks SET
    seq = seq + n,
    iterations = coalesce(p_iteration, iterations),
    tokens = tokens + used_tokens,
    cost_nano = cost_nano + used_cost,
    is_cost_known = is_cost_known AND is_priced,
    reserved_tokens = reserved_tokens - back_tokens + wanted_tokens,
    reserved_cost_nano = reserved_cost_nano - back_cost + wanted_cost,
    own_reserved_tokens = own_reserved_tokens - back_tokens + wanted_tokens,
    own_reserved_cost_nano = own_reserved_cost_nano - back_cost + wanted_cost,
    reserved_day = coalesce(p_reserve->>'day', reserved_day)
    WHERE id = p_task RETURNING seq - n + 1 INTO first_seq;
  IF array_length(chain, 1) > 1 THEN
    UPDATE vitto_tasks SET
      tokens = tokens + used_tokens,
      cost_nano = cost_nano + used_cost,
      is_cost_known = is_cost_known AND is_priced,
      reserved_tokens = reserved_tokens - back_tokens + wanted_tokens,
      reserved_cost_nano = reserved_cost_nano - back_cost + wanted_cost,
      below_tokens = below_tokens + used_tokens,
      below_cost_nano = below_cost_nano + used_cost,
      below_reserved_tokens = below_reserved_tokens - back_tokens + wanted_tokens,
      below_reserved_cost_nano = below_reserved_cost_nano - back_cost + wanted_cost
      WHERE id = ANY(chain[2:]);
  END IF;
  IF n = 0 THEN RETURN; END IF;

  INSERT INTO vitto_journal_positions AS p (user_id, position) VALUES (own.user_id, n)
    ON CONFLICT (user_id) DO UPDATE SET position = p.position + n
    RETURNING position INTO last_position;
  INSERT INTO vitto_task_events (task_id, seq, user_id, position, conversation_id, type, payload, at)
    SELECT p_task, first_seq + x.i - 1, own.user_id, vitto_append.last_position - n + x.i, own.conversation_id, x.e->>'type', x.e->'payload', clock_timestamp()
    FROM (
      SELECT e, i::int FROM json_array_elements(p_events) WITH ORDINALITY AS a(e, i)
      UNION ALL
      SELECT e, i::int + json_array_length(p_events) FROM json_array_elements(p_then) WITH ORDINALITY AS b(e, i)
    ) AS x;
END $$;
