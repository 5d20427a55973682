-- The audit trail is a chain: the hash of an entry covers its own fields and the hash of the entry before it.
INSERT INTO vitto_audit_head (id, seq, hash) VALUES (1, 0, decode(repeat('00', 32), 'hex'));
--> statement-breakpoint

-- What is hashed of an entry: each field as its length in bytes, a colon and its text, or `-` where it is null, with
-- commas between. The time is in whole milliseconds since 1970, so that no time zone or locale comes in. A column
-- that is added later is not part of it. `verify-audit.ts` makes the same bytes on its own.
CREATE FUNCTION vitto_audit_bytes(e vitto_audit_events) RETURNS bytea LANGUAGE sql IMMUTABLE AS $$
  SELECT convert_to(string_agg(coalesce(octet_length(convert_to(f, 'UTF8')) || ':' || f, '-'), ',' ORDER BY i), 'UTF8')
  FROM unnest(ARRAY[
    e.seq::text, (extract(epoch FROM e.at) * 1000)::bigint::text, e.actor_id::text, e.via, e.address, e.action,
    e.object_type, e.object_id, e.detail::text
  ]) WITH ORDINALITY AS field(f, i)
$$;
--> statement-breakpoint

-- The only writer of the audit trail. The head row is locked until the transaction ends, so that the numbers have no
-- gap and each entry follows the one before; the time is the database's. Gives the number of the entry.
-- Lock order: the head comes after everything else.
CREATE FUNCTION vitto_audit(
  p_actor uuid, p_via text, p_address text, p_action text, p_object_type text, p_object_id text, p_detail json
) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
  head vitto_audit_head;
  e vitto_audit_events;
BEGIN
  SELECT * INTO STRICT head FROM vitto_audit_head WHERE id = 1 FOR UPDATE;
  e.seq := head.seq + 1;
  e.at := date_trunc('milliseconds', clock_timestamp());
  e.actor_id := p_actor;
  e.via := p_via;
  e.address := p_address;
  e.action := p_action;
  e.object_type := p_object_type;
  e.object_id := p_object_id;
  e.detail := p_detail;
  e.hash := sha256(head.hash || vitto_audit_bytes(e));
  INSERT INTO vitto_audit_events SELECT e.*;
  UPDATE vitto_audit_head SET seq = e.seq, hash = e.hash WHERE id = 1;
  RETURN e.seq;
END $$;
--> statement-breakpoint

CREATE FUNCTION vitto_audit_refuse() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'the audit trail is append-only' USING ERRCODE = 'VT010';
END $$;
--> statement-breakpoint
CREATE TRIGGER vitto_audit_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON vitto_audit_events
  FOR EACH STATEMENT EXECUTE FUNCTION vitto_audit_refuse();
--> statement-breakpoint
CREATE TRIGGER vitto_audit_head_stays BEFORE DELETE OR TRUNCATE ON vitto_audit_head
  FOR EACH STATEMENT EXECUTE FUNCTION vitto_audit_refuse();
