/** What `top_performing` is ranked by, the most first. Source: interface "GET /v2/discovery/strategies". */
import { Schema } from "effect"

/** Value locked, net inflows of the last seven days, or distinct owners. */
export const Sort = Schema.Literals(["tvl.desc", "inflows7d.desc", "users.desc"])
export type Sort = typeof Sort.Type

/** What applies where the request names none. */
export const defaultSort: Sort = "tvl.desc"
