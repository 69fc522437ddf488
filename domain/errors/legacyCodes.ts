/** The codes that the legacy execute routes have in place of ours. Source: interface "Legacy execute codes". */
import { CallsRefused } from "#domain/errors/Errors.ts"

const ofStatus: Readonly<Record<number, string>> = { 401: "UNAUTHORIZED", 403: "FORBIDDEN", 404: "NOT_FOUND" }

/** The code that the legacy execute routes have for one of ours; for too many requests they have none. */
export const legacyCode = (code: string, status: number): string => {
  if (code === CallsRefused.contract.code) return "SIMULATION_FAILED"
  if (status === 429) return code
  return status >= 500 ? "EXECUTION_FAILED" : (ofStatus[status] ?? "BAD_REQUEST")
}
