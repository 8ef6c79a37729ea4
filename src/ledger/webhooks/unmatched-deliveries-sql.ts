/** Events about service ids that no invoice has, nor ever had. */
export const PARKED_DELIVERIES = `/* parked-deliveries */
SELECT count(*) AS parked FROM delivery d
WHERE d.service_id IS NOT NULL AND d.verdict IS NOT NULL
  AND NOT EXISTS (SELECT 1 FROM invoice i WHERE i.service_id = d.service_id)
  AND NOT EXISTS (SELECT 1 FROM invoice_generation g WHERE g.service_id = d.service_id)`;
