-- Everything of a user goes with the user.
ALTER TABLE vitto_journal_positions ADD CONSTRAINT vitto_journal_positions_user_fk FOREIGN KEY (user_id) REFERENCES vitto_users(id) ON DELETE CASCADE;
--> statement-breakpoint
ALTER TABLE vitto_conversations ADD CONSTRAINT vitto_conversations_user_fk FOREIGN KEY (user_id) REFERENCES vitto_users(id) ON DELETE CASCADE;
--> statement-breakpoint
ALTER TABLE vitto_tasks ADD CONSTRAINT vitto_tasks_user_fk FOREIGN KEY (user_id) REFERENCES vitto_users(id) ON DELETE CASCADE;
--> statement-breakpoint
ALTER TABLE vitto_daily_spending ADD CONSTRAINT vitto_daily_spending_user_fk FOREIGN KEY (user_id) REFERENCES vitto_users(id) ON DELETE CASCADE;
--> statement-breakpoint
ALTER TABLE vitto_approvals ADD CONSTRAINT vitto_approvals_user_fk FOREIGN KEY (user_id) REFERENCES vitto_users(id) ON DELETE CASCADE;
--> statement-breakpoint
ALTER TABLE vitto_artifacts ADD CONSTRAINT vitto_artifacts_user_fk FOREIGN KEY (user_id) REFERENCES vitto_users(id) ON DELETE CASCADE;
--> statement-breakpoint
ALTER TABLE vitto_idempotency_keys ADD CONSTRAINT vitto_idempotency_keys_user_fk FOREIGN KEY (user_id) REFERENCES vitto_users(id) ON DELETE CASCADE;
--> statement-breakpoint
-- Rows that each step updates in place: leave room on the page, so that no index is touched.
ALTER TABLE vitto_tasks SET (fillfactor = 60);
--> statement-breakpoint
ALTER TABLE vitto_journal_positions SET (fillfactor = 40);
--> statement-breakpoint

-- The chain of tasks whose budget a call of p_task draws on, itself first, each row locked. Always locked from the
-- task up to its root, so that siblings cannot deadlock.
CREATE FUNCTION vitto_lock_chain(p_task uuid) RETURNS uuid[] LANGUAGE plpgsql AS $$
DECLARE
  chain uuid[] := '{}';
  current uuid := p_task;
  parent uuid;
BEGIN
  WHILE current IS NOT NULL LOOP
    SELECT parent_id INTO parent FROM vitto_tasks WHERE id = current FOR NO KEY UPDATE;
    EXIT WHEN NOT FOUND;
    chain := chain || current;
    current := parent;
  END LOOP;
  RETURN chain;
END $$;
--> statement-breakpoint

-- Gives back what a call had reserved and books what it really used, on the task and all its ancestors.
-- p_settle: {reservedTokens, reservedCost, tokens, cost|null}; money in billionths of a dollar.
-- What is given back never exceeds what the task itself holds.
CREATE FUNCTION vitto_settle(p_task uuid, p_settle json) RETURNS void LANGUAGE plpgsql AS $$
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

-- Gives back all that a task still holds when it ends, parks or changes owner, and books p_tokens and p_cost for a
-- call whose answer never came (the provider charges for what it read).
CREATE FUNCTION vitto_release(p_task uuid, p_tokens bigint, p_cost bigint) RETURNS void LANGUAGE sql AS $$
  SELECT vitto_settle(p_task, json_build_object('reservedTokens', own_reserved_tokens, 'reservedCost', own_reserved_cost_nano,
    'tokens', p_tokens, 'cost', p_cost)) FROM vitto_tasks WHERE id = p_task;
$$;
--> statement-breakpoint

-- Reserves the price of a call along the chain of ancestors, all or nothing.
-- p_reserve: {tokens, cost, day, dailyLimit|null}. Returns null, or {budget, limit, spent, ofTaskId} of the limit it would pass.
CREATE FUNCTION vitto_reserve(p_task uuid, p_reserve json) RETURNS json LANGUAGE plpgsql AS $$
DECLARE
  chain uuid[] := vitto_lock_chain(p_task);
  wanted_tokens bigint := (p_reserve->>'tokens')::bigint;
  wanted_cost bigint := (p_reserve->>'cost')::bigint;
  daily_limit bigint := (p_reserve->>'dailyLimit')::bigint;
  today vitto_daily_spending;
  owner uuid;
  t record;
BEGIN
  FOR t IN SELECT * FROM vitto_tasks WHERE id = ANY(chain) LOOP
    IF t.max_tokens IS NOT NULL AND t.tokens + t.reserved_tokens + wanted_tokens > t.max_tokens THEN
      RETURN json_build_object('budget', 'tokens', 'limit', t.max_tokens, 'spent', t.tokens + t.reserved_tokens, 'ofTaskId', t.id);
    END IF;
    IF t.max_cost_nano IS NOT NULL AND t.cost_nano + t.reserved_cost_nano + wanted_cost > t.max_cost_nano THEN
      RETURN json_build_object('budget', 'cost', 'limit', t.max_cost_nano / 1e9, 'spent', (t.cost_nano + t.reserved_cost_nano) / 1e9, 'ofTaskId', t.id);
    END IF;
    owner := t.user_id;
  END LOOP;
  IF wanted_cost > 0 THEN
    INSERT INTO vitto_daily_spending (user_id, day) VALUES (owner, p_reserve->>'day') ON CONFLICT DO NOTHING;
    SELECT * INTO today FROM vitto_daily_spending WHERE user_id = owner AND day = p_reserve->>'day' FOR NO KEY UPDATE;
    IF daily_limit IS NOT NULL AND today.cost_nano + today.reserved_cost_nano + wanted_cost > daily_limit THEN
      RETURN json_build_object('budget', 'cost', 'limit', daily_limit / 1e9, 'spent', (today.cost_nano + today.reserved_cost_nano) / 1e9,
        'ofTaskId', p_task, 'day', p_reserve->>'day');
    END IF;
    UPDATE vitto_daily_spending SET reserved_cost_nano = reserved_cost_nano + wanted_cost
      WHERE user_id = owner AND day = p_reserve->>'day';
  END IF;
  UPDATE vitto_tasks SET
    reserved_tokens = reserved_tokens + wanted_tokens,
    reserved_cost_nano = reserved_cost_nano + wanted_cost,
    own_reserved_tokens = own_reserved_tokens + CASE WHEN id = p_task THEN wanted_tokens ELSE 0 END,
    own_reserved_cost_nano = own_reserved_cost_nano + CASE WHEN id = p_task THEN wanted_cost ELSE 0 END,
    reserved_day = CASE WHEN id = p_task THEN p_reserve->>'day' ELSE reserved_day END
    WHERE id = ANY(chain);
  RETURN NULL;
END $$;
--> statement-breakpoint

-- The only writer of the journal. Numbers, fences and budgets are kept here, in one round trip and one transaction.
--   p_fence     the owner's fencing number, or null for a writer that is not the owner
--   p_events    [{type, payload}], written in any case
--   p_settle    see vitto_settle, or null
--   p_reserve   see vitto_reserve, or null
--   p_then      [{type, payload}], written after p_events unless the reservation is refused
--   p_iteration the iteration that p_then begins, or null
-- Errors: VT001 the writer is no longer the owner; VT002 no such task; VT003 a type that only the owner may write.
-- Lock order: task rows (the task, then its ancestors), the day, the user's position last.
CREATE FUNCTION vitto_append(
  p_task uuid, p_fence bigint, p_events json, p_settle json DEFAULT NULL, p_reserve json DEFAULT NULL, p_then json DEFAULT '[]',
  p_iteration integer DEFAULT NULL,
  OUT first_seq integer, OUT last_position bigint, OUT refusal json
) LANGUAGE plpgsql AS $$
DECLARE
  n integer;
  t record;
  stranger text;
BEGIN
  IF p_fence IS NULL THEN
    SELECT e->>'type' INTO stranger FROM json_array_elements(p_events) e
      WHERE NOT (e->>'type' = ANY ('{user.message,task.created,task.queued,approval.decided,subvitto.completed,subvitto.failed,subvitto.progress,subvitto.vm_acquired,subvitto.vm_degraded,trust.updated,trigger.detected,trigger.suggested,trigger.executed,trigger.disabled,evolution.drift,evolution.visual}'::text[])) LIMIT 1;
    IF stranger IS NOT NULL THEN
      RAISE EXCEPTION 'only the owner of a task writes %', stranger USING ERRCODE = 'VT003';
    END IF;
  ELSIF NOT EXISTS (SELECT 1 FROM vitto_tasks WHERE id = p_task AND fence = p_fence AND state = 'running' FOR NO KEY UPDATE) THEN
    IF EXISTS (SELECT 1 FROM vitto_tasks WHERE id = p_task) THEN
      RAISE EXCEPTION 'task % has another owner', p_task USING ERRCODE = 'VT001';
    END IF;
    RAISE EXCEPTION 'there is no task %', p_task USING ERRCODE = 'VT002';
  END IF;
  IF p_settle IS NOT NULL THEN
    PERFORM vitto_settle(p_task, p_settle);
  END IF;
  IF p_reserve IS NOT NULL THEN
    refusal := vitto_reserve(p_task, p_reserve);
    IF refusal IS NOT NULL THEN
      p_then := '[]';
      p_iteration := NULL;
    END IF;
  END IF;
  n := json_array_length(p_events) + json_array_length(p_then);
  UPDATE vitto_tasks SET seq = seq + n, iterations = coalesce(p_iteration, iterations) WHERE id = p_task
    RETURNING seq - n + 1 AS first, user_id, conversation_id INTO t;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'there is no task %', p_task USING ERRCODE = 'VT002';
  END IF;
  first_seq := t.first;
  IF n = 0 THEN RETURN; END IF;
  INSERT INTO vitto_journal_positions AS p (user_id, position) VALUES (t.user_id, n)
    ON CONFLICT (user_id) DO UPDATE SET position = p.position + n
    RETURNING position INTO last_position;
  INSERT INTO vitto_task_events (task_id, seq, user_id, position, conversation_id, type, payload, at)
    SELECT p_task, t.first + x.i - 1, t.user_id, vitto_append.last_position - n + x.i, t.conversation_id, x.e->>'type', x.e->'payload', clock_timestamp()
    FROM (
      SELECT e, i::int FROM json_array_elements(p_events) WITH ORDINALITY AS a(e, i)
      UNION ALL
      SELECT e, i::int + json_array_length(p_events) FROM json_array_elements(p_then) WITH ORDINALITY AS b(e, i)
    ) AS x;
END $$;
