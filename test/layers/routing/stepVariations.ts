/** Steps of a provider that differ in one part from an honest one. */
import type { LifiStep } from "#layers/routing/lifi/wire.ts"

export const stepVariations = (honest: LifiStep) => ({
  action: (change: Partial<LifiStep["action"]>): LifiStep => ({ ...honest, action: { ...honest.action, ...change } }),
  estimate: (change: Partial<LifiStep["estimate"]>): LifiStep => ({
    ...honest,
    estimate: { ...honest.estimate, ...change }
  }),
  transaction: (change: Partial<LifiStep["transactionRequest"]>): LifiStep => ({
    ...honest,
    transactionRequest: { ...honest.transactionRequest, ...change }
  })
})
