/** The address that owns the operator's own strategies (`OPERATOR_ADDRESS`); null when the deployment names none. */
import { Context } from "effect"
import type { OwnerAddress } from "#domain/values/OwnerAddress.ts"

/**
 * The address that owns the operator's own strategies.
 *
 * **When to use**
 *
 * Use in `Mirrorability` alone.
 */
export class OperatorAccount extends Context.Service<OperatorAccount, { readonly address: OwnerAddress | null }>()(
  "ballast/domain/strategy/OperatorAccount"
) {}
