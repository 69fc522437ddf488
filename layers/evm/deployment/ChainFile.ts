/**
 * The reviewed facts of a chain on which Ballast's contracts are deployed, `deploy/chains/<id>.json`: what is there
 * already and by which code, and what the guard's registry gets. Every address says where it was found.
 */
import { Effect, Schema } from "effect"
import { type Address as ViemAddress, getAddress, type Hex, isAddress, zeroAddress } from "viem"
import { detailsOf, describedParsing } from "#domain/errors/describeIssue.ts"
import { ChainId } from "#domain/values/Caip.ts"
import { DeploymentRefused } from "#layers/evm/deployment/DeploymentRefused.ts"

const Address = Schema.declare((value): value is ViemAddress => {
  const text = value as string
  return isAddress(text, { strict: false }) && getAddress(text) === text && text !== zeroAddress
}).annotate({
  expected: "an address with its EIP-55 checksum",
  message: "Expected an address with its EIP-55 checksum"
})

/** 32 bytes. */
const Word = Schema.declare(
  (value): value is Hex => typeof value === "string" && /^0x[0-9a-f]{64}$/u.test(value)
).annotate({ message: "Expected 32 bytes as 0x and 64 lower-case hex digits" })

const CodeHash = Schema.declare(
  (value): value is Hex => typeof value === "string" && /^0x[0-9a-f]{64}$/u.test(value)
).annotate({ message: "Expected the Keccak-256 of a code as 0x and 64 lower-case hex digits, or null" })

const text = (most: number) => Schema.NonEmptyString.check(Schema.isMaxLength(most))
const count = (minimum: number, maximum: number) => Schema.Int.check(Schema.isBetween({ minimum, maximum }))
const listOf = <S extends Schema.Constraint>(item: S) => Schema.Array(item).check(Schema.isMaxLength(200))

/** Where a fact was found, so that who reviews the file can look it up. */
const source = text(400)
/** Longest ages and largest band that the guard takes (contracts/RegistryChanges.sol). */
const feedAge = count(1, 259_200)
const bandBps = count(1, 255)
const decimals = count(0, 36)

/** A contract that must be there before. A null hash is one that nobody has pinned yet. */
const Deployed = Schema.Struct({ name: text(80), address: Address, codeHash: Schema.NullOr(CodeHash), source })

const Feed = Schema.Struct({
  address: Address,
  /** What its `description()` says, such as `ETH / USD`. */
  description: text(80),
  decimals,
  /** Seconds after which its answer is too old: its heartbeat and a margin. */
  maxAgeSeconds: feedAge,
  source
})

const Attested = Schema.Struct({
  maxAgeSeconds: count(1, 300),
  maxStepBps: count(1, 1_000),
  /** What the attestor's first price is held against. */
  firstPriceUsd: Schema.String.check(
    Schema.isPattern(/^(?!0+(?:\.0+)?$)[0-9]{1,9}(?:\.[0-9]{1,18})?$/u, {
      message: "Expected US dollars above zero, such as 12.50"
    })
  )
})

const Token = Schema.Struct({
  symbol: text(32),
  address: Address,
  decimals,
  /** How far the market may be from the price, in basis points. */
  bandBps,
  /** Null where the attestor signs its price; a second one where the first speaks in another currency. */
  feed: Schema.NullOr(Feed),
  secondFeed: Schema.optionalKey(Feed),
  attested: Schema.optionalKey(Attested),
  source
}).check(
  Schema.makeFilter(
    ({ attested, feed, secondFeed }) =>
      (feed === null) === (attested !== undefined) && (feed !== null || secondFeed === undefined),
    {
      message: "Expected a feed, or null and attested"
    }
  )
)

const Venue = Schema.Struct({
  name: text(80),
  /** `uniswap-v2`: the guard writes the call; `calldata`: the service brings it. */
  kind: Schema.Literals(["uniswap-v2", "calldata"]),
  target: Address,
  /** Who takes the sold tokens: the target, or another contract of the same provider. Null: it is paid before. */
  spender: Schema.NullOr(Address),
  /** Most that one trade may lose here, in basis points, and sell here, in whole US dollars; left out: no own limit. */
  maxLossBps: Schema.optionalKey(count(1, 1_000)),
  maxUsd: Schema.optionalKey(count(1, 1_000_000_000)),
  codeHash: Schema.NullOr(CodeHash),
  source
})

const Bridge = Schema.Struct({
  name: text(80),
  protocol: Schema.Literals(["cctp-v2", "across"]),
  address: Address,
  codeHash: Schema.NullOr(CodeHash),
  source
})

/** A token that may be sent to another chain over a bridge, as the same asset there. */
const Lane = Schema.Struct({
  symbol: text(32),
  /** Name of the bridge. */
  bridge: text(80),
  chainId: ChainId,
  /** Address of the asset there; its 32 bytes where it has no address of an EVM chain. */
  remoteToken: Schema.Union([Address, Word]),
  decimals,
  /** The chain's number in the bridge's protocol: a domain of CCTP, a chain id of Across. */
  destination: count(0, Number.MAX_SAFE_INTEGER),
  /** Seconds that relayers of Across have, after which the account gets its deposit back; left out for CCTP. */
  fillTimeSeconds: Schema.optionalKey(count(1, 21_600)),
  source
})

const repeated = (values: ReadonlyArray<string>) => values.find((value, index) => values.indexOf(value) !== index)

const File = Schema.Struct({
  about: text(400),
  chainId: ChainId,
  name: text(80),
  contracts: listOf(Deployed),
  /** The feed that says whether a rollup's sequencer is up; null on chains without one. */
  sequencer: Schema.NullOr(Feed),
  tokens: listOf(Token),
  venues: listOf(Venue),
  bridges: listOf(Bridge),
  lanes: listOf(Lane),
  /** Symbols of the tokens in which liquidating withdrawals are paid. */
  payoutTokens: listOf(text(32)),
  /** What RoutedSwap is made with; null where accounts of the permission without a guard have no routes. */
  routedSwap: Schema.NullOr(Schema.Struct({ target: Address, router: Address }))
}).check(
  Schema.makeFilter(({ bridges, contracts, lanes, payoutTokens, tokens, venues }) => {
    const symbols = tokens.map(({ symbol }) => symbol)
    const missing = [...lanes.map(({ symbol }) => symbol), ...payoutTokens].find((symbol) => !symbols.includes(symbol))
    const twice =
      repeated(symbols) ??
      repeated(tokens.map(({ address }) => address)) ??
      repeated([...contracts, ...bridges].map(({ address }) => address)) ??
      repeated(venues.map(({ target }) => target)) ??
      repeated(
        lanes.map(
          ({ bridge, chainId, remoteToken, symbol }) => `lane of ${symbol} to ${remoteToken} on ${chainId} by ${bridge}`
        )
      ) ??
      repeated(bridges.map(({ name }) => name))
    if (missing !== undefined) return `no token of the file has the symbol ${missing}`
    const protocols = new Map(bridges.map(({ name, protocol }) => [name, protocol]))
    for (const { bridge, fillTimeSeconds } of lanes) {
      const protocol = protocols.get(bridge)
      if (protocol === undefined) return `no bridge of the file has the name ${bridge}`
      if ((protocol === "across") !== (fillTimeSeconds !== undefined))
        return `lanes of ${bridge} ${protocol === "across" ? "need" : "have no"} fillTimeSeconds`
    }
    return twice === undefined ? true : `${twice} is listed twice`
  })
)

export type ChainFile = typeof File.Type
export type FileToken = ChainFile["tokens"][number]
export type FileFeed = typeof Feed.Type

/** Who deploys and fills the guard, and who has its keys afterwards: addresses, the same on every chain. */
const Keys = Schema.Struct({
  /** The account whose transactions these are; the guard's address follows from it and from the guardian. */
  deployer: Address,
  administrator: Address,
  guardian: Address,
  /** Null where no token's price is attested. */
  attestor: Schema.NullOr(Address)
})

export type GuardKeys = typeof Keys.Type

const decoded = <S extends Schema.ConstraintDecoder<unknown>>(schema: S) => {
  const decode = Schema.decodeUnknownEffect(schema, { ...describedParsing, onExcessProperty: "error" })
  return (name: string, content: string): Effect.Effect<S["Type"], DeploymentRefused> =>
    Effect.try({ try: () => JSON.parse(content) as unknown, catch: () => ["it is not JSON"] }).pipe(
      Effect.flatMap((value) =>
        Effect.mapError(decode(value) as Effect.Effect<S["Type"], Schema.SchemaError>, ({ issue }) =>
          detailsOf(issue, "the file")
        )
      ),
      Effect.mapError((lines) => new DeploymentRefused({ reasons: lines.map((line) => `${name}: ${line}`) }))
    )
}

/** Reads a chain's file; what is wrong names the file and the field. */
export const decodeChainFile = decoded(File)

/** Reads the file of keys likewise. */
export const decodeKeys = decoded(Keys)
