/** The JSON schemas by which Fastify checks the peer's requests and writes its answers. */

const text = { type: "string" } as const
const textOrNull = { type: "string", nullable: true } as const
const integer = { type: "integer" } as const
const integerOrNull = { type: "integer", nullable: true } as const

const object = <const Properties extends object>(properties: Properties) => ({ type: "object", properties }) as const
const list = <const Items extends object>(items: Items) => ({ type: "array", items }) as const
const success = <const Data extends object>(data: Data) => object({ success: { type: "boolean" }, data })

const ulid = "[0-7][0-9A-HJKMNP-TV-Z]{25}"
const portfolioId = { type: "string", pattern: `^pf_${ulid}$` } as const
const operationId = { type: "string", pattern: `^op_${ulid}$` } as const
const smartAccounts = list(object({ accountId: text }))

export const whoami = {
  response: {
    200: success(object({ tenantName: text, tenantEmail: text, apiKeyId: text, scopes: list(text) }))
  }
} as const

export const portfolio = {
  params: object({ portfolioId }),
  response: {
    200: success(
      object({
        portfolioId: text,
        portfolioName: textOrNull,
        ownerAccountId: text,
        strategyId: text,
        strategyName: text,
        strategyDescription: textOrNull,
        smartAccounts: list(object({ accountId: text, permission: text })),
        schedule: {
          ...object({
            status: text,
            pauseReason: textOrNull,
            frequency: text,
            intervalMs: integer,
            nextDueAt: text,
            lastRebalanceAt: textOrNull,
            lastCheckedAt: textOrNull
          }),
          nullable: true
        },
        createdAt: text,
        strategyVersion: integer,
        updatedAt: text,
        activeOperationId: textOrNull,
        lastOperation: {
          ...object({
            operationId: text,
            kind: text,
            state: text,
            outcome: textOrNull,
            reason: textOrNull,
            finishedAt: text
          }),
          nullable: true
        },
        attention: list(object({ code: text, since: text, actor: text, action: text, operationId: textOrNull }))
      })
    )
  }
} as const

const position = object({
  assetId: text,
  smartAccountId: text,
  symbol: text,
  decimals: integer,
  balance: text,
  balanceRaw: text,
  priceAsOf: text,
  priceUsd: text,
  valueUsd: text
})

const transit = object({
  sourceAssetId: text,
  destinationChainId: integer,
  amountRaw: text,
  valueUsd: text,
  priceAsOf: text
})

export const positions = {
  params: object({ portfolioId }),
  response: {
    200: success(
      object({
        portfolioId: text,
        totalValueUsd: text,
        inTransit: object({ totalUsd: text, items: list(transit) }),
        fetchedAt: text,
        smartAccounts,
        assets: list(position),
        warnings: list(object({ kind: text, message: text }))
      })
    )
  }
} as const

export const operation = {
  params: object({ portfolioId, operationId }),
  response: {
    200: success(
      object({
        operationId: text,
        portfolioId: text,
        kind: text,
        state: text,
        submittedAt: text,
        createdAt: text,
        updatedAt: text,
        finishedAt: textOrNull,
        error: textOrNull,
        trigger: text,
        outcome: textOrNull,
        reason: textOrNull,
        result: { type: "object", nullable: true, additionalProperties: true }
      })
    )
  }
} as const

const strategy = object({
  strategyId: text,
  name: text,
  description: textOrNull,
  maxApy: text,
  allocation: object({ assets: list(object({ assetId: text, weight: text })) }),
  schedule: object({ type: text, frequency: text }),
  preferences: object({
    swap: object({ slippageBps: integerOrNull, priceImpactBps: integerOrNull, thresholdUsd: textOrNull })
  }),
  isPublic: { type: "boolean" },
  version: integer,
  createdAt: text
})

export const strategies = {
  querystring: object({
    limit: { type: "integer", minimum: 1, maximum: 200, default: 50 },
    cursor: { type: "string", maxLength: 512 }
  }),
  response: {
    200: object({
      success: { type: "boolean" },
      data: object({ strategies: list(strategy) }),
      nextCursor: textOrNull
    })
  }
} as const
