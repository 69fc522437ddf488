/**
 * Values as they are written in v2 answers. They are plain strings in the schema, since the views make them; what they
 * hold is in their description and example. Source: interface "Number formats", shapes section 2.
 */
import { Schema } from "effect"
import { FlowId, OperationId, PortfolioId, StrategyId } from "#domain/Ids.ts"

const text = (description: string, ...examples: readonly [string, ...Array<string>]) =>
  Schema.String.annotate({ description, examples })

/** ISO 8601, UTC, milliseconds. */
export const timestamp = (description: string) =>
  text(`${description}. ISO 8601 in UTC with milliseconds.`, "2026-03-02T09:30:00.000Z")

/** US dollars with six decimals. */
export const usd = (description: string) => text(`${description}. US dollars with 6 decimals.`, "1520.500000")

/** An integer without point or exponent. */
export const rawAmount = (description: string) =>
  text(`${description}. Integer in the token's smallest unit.`, "1500500000")

export const AssetIdText = text("CAIP-19 of the asset.", "eip155:8453/erc20:0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913")
export const SmartAccountIdText = text(
  "CAIP-10 of the smart account, bound to its chain.",
  "eip155:8453:0x52908400098527886E0F7030069857D2E4169EE7"
)
export const WalletIdText = text(
  "CAIP-10 of the end user's wallet.",
  "eip155:0:0x8617E340B3D01FA5F11F306F4090FD50E238070D"
)

const idOf = <S extends Schema.Codec<string, string>>(schema: S, name: string, example: string): S =>
  schema.annotate({
    description: `Id of the ${name}.`,
    examples: [example],
    message: `Expected a ${name} id such as ${example}`
  }) as unknown as S

/** Ids as requests carry them: the form is checked, so a wrong one is a 400 that names it. */
export const StrategyIdParam = idOf(StrategyId, "strategy", "01JQ8ZKX4V6T3M9N2C5B7D8F0G")
export const PortfolioIdParam = idOf(PortfolioId, "portfolio", "pf_01JQ8ZM0R2W4Y6A8C0E2G4J6K8")
export const OperationIdParam = idOf(OperationId, "operation", "op_01JQ8ZP3T5V7X9Z1B3D5F7H9K1")
export const FlowIdParam = idOf(FlowId, "flow", "flow_01JQ8ZN1S3T5V7W9Y1A3C5E7G9")

export const StrategyIdText = text("Id of the strategy.", "01JQ8ZKX4V6T3M9N2C5B7D8F0G")
export const PortfolioIdText = text("Id of the portfolio.", "pf_01JQ8ZM0R2W4Y6A8C0E2G4J6K8")
export const OperationIdText = text("Id of the operation.", "op_01JQ8ZP3T5V7X9Z1B3D5F7H9K1")
