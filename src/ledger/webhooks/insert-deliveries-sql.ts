/** Arrays: sha256, raw (base64), receivedAt, type, eventId, serviceId, verdict, reason code, reason message. Known bytes are left out. */
export const INSERT_DELIVERIES = `/* insert-deliveries */
INSERT INTO delivery (sha256, raw, received_at, event_type, event_id, service_id, verdict, reason_code, reason_message)
SELECT u.sha256, decode(u.raw, 'base64'), u.received_at, u.event_type, u.event_id, u.service_id, u.verdict, u.reason_code, u.reason_message
FROM unnest($1::text[], $2::text[], $3::bigint[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[], $9::text[]) WITH ORDINALITY
  AS u(sha256, raw, received_at, event_type, event_id, service_id, verdict, reason_code, reason_message, place)
ORDER BY u.place
ON CONFLICT (sha256) DO NOTHING
RETURNING sha256`;
