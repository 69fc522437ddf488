/** Which public strategies discovery shows, and in which order. Source: interface "GET /v2/discovery/strategies". */
import { Schema } from "effect"

/** `curated`: chosen by the operator, in editorial order. `top_performing`: all of them, ranked by analytics. */
export const Collection = Schema.Literals(["curated", "top_performing"])
export type Collection = typeof Collection.Type
