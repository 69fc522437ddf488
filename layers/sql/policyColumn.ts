/** The column of a rebalance policy, which strategies and tenants have alike: JSON as the interface writes it. */
import { Schema } from "effect"
import { RebalancePolicy } from "#domain/mandate/RebalancePolicy.ts"
import { storableJson } from "#layers/sql/storable.ts"

export const PolicyColumn = Schema.NullOr(RebalancePolicy)

/** What a query selects to read it. */
export const selectPolicy = `rebalance_policy AS "rebalancePolicy"`

const encode = Schema.encodeSync(Schema.toCodecJson(RebalancePolicy))

/** The column to write for a patch that has a policy, or null to clear it. */
export const policyColumnOf = (policy: RebalancePolicy | null | undefined) =>
  policy === undefined ? {} : { rebalance_policy: policy === null ? null : storableJson(encode(policy)) }

/** The policy of a row, where it has one. */
export const policyOf = ({ rebalancePolicy }: { readonly rebalancePolicy: RebalancePolicy | null }) =>
  rebalancePolicy === null ? {} : { rebalancePolicy }
