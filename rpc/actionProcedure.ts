/** How procedures by which a signed-in owner acts are defined. Source: interface "RPC-style procedures". */
import { Context } from "effect"

/**
 * Annotation of a procedure that is called with `{"input": ...}` and answered `{"result": {"data": ...}}`, without an
 * inner `json`.
 */
export const IsAction = Context.Reference<boolean>("ballast/rpc/IsAction", { defaultValue: () => false })
