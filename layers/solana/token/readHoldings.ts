/**
 * What an address holds: every token of both token programs, several accounts of a mint summed, and lamports above its
 * rent, which count as SOL. Token accounts are found first; then all of them, their mints and the chain's clock are
 * read by one request, so the amounts are those of one slot (of up to 100 accounts; more are read in several requests).
 */
import { NATIVE_MINT, TOKEN_PROGRAM_ID } from "@solana/spl-token"
import { PublicKey, SYSVAR_CLOCK_PUBKEY } from "@solana/web3.js"
import { Effect, Option, Result } from "effect"
import { solanaChainId, spl, type SplAssetId } from "#domain/values/Caip.ts"
import type { ForeignAuthority } from "#domain/values/ForeignAuthority.ts"
import { ChainUnavailable } from "#domain/chain/ChainUnavailable.ts"
import type { Account } from "#layers/solana/rpc/Requests.ts"
import { SolanaRpc } from "#layers/solana/rpc/SolanaRpc.ts"
import { ByteReader } from "#layers/solana/swig/ByteReader.ts"
import { decodeMint, type Mint } from "#layers/solana/token/Mint.ts"
import { multiplierAt } from "#layers/solana/token/Multiplier.ts"
import { isSol } from "#layers/solana/token/nativeSol.ts"
import { associatedAccount, tokenPrograms } from "#layers/solana/token/programs.ts"
import { decodeTokenAccount, type TokenAccount } from "#layers/solana/token/TokenAccount.ts"

/** Why tokens that are held cannot be moved now, or may leave without the holder. */
export type Remark =
  | "PAUSED"
  | "FROZEN"
  | "SHARED"
  | "PERMANENT_DELEGATE"
  | "NON_TRANSFERABLE"
  | "TRANSFER_HOOK"
  | "TRANSFER_FEE"

export interface Holding {
  readonly assetId: SplAssetId
  readonly mint: PublicKey
  /** Raw units in all of the owner's accounts of the mint, and `lamports`. */
  readonly raw: bigint
  /** Raw units that a transfer can move now: none while the mint is paused, nothing of frozen accounts. */
  readonly movableRaw: bigint
  /** SOL that is not wrapped, above what the address must keep; 0 of other tokens. */
  readonly lamports: bigint
  /** Those accounts, the fullest first. */
  readonly accounts: ReadonlyArray<TokenAccount>
  /** Null where the mint cannot be read, which is a reason not to trade the token. */
  readonly token: Mint | null
  /** Shown units of one raw unit (wad) at the time of the reading. */
  readonly multiplier: bigint
  readonly remarks: ReadonlyArray<Remark>
}

export interface Holdings {
  readonly slot: bigint
  /** The chain's time, in seconds. */
  readonly time: bigint
  readonly tokens: ReadonlyArray<Holding>
  /** Associated accounts of the requested mints that the owner's signature has given to somebody else. */
  readonly givenAway: ReadonlyArray<TokenAccount>
}

/** Token accounts of one owner that are read: anyone may make some for any owner. */
const accountLimit = 1_000

interface Wanted {
  /** Left out: all. */
  readonly mints?: ReadonlyArray<PublicKey>
  /** A slot that has been seen: nothing older is taken. */
  readonly atLeastSlot?: bigint
}

const unreadable = (reason: string) => new ChainUnavailable({ chainId: solanaChainId, reason })

/** The unix time in the account of the clock: after slot, start of the epoch, epoch and the next epoch with leaders. */
const timeIn = ({ data }: Account): bigint => {
  const reader = new ByteReader(data, "clock")
  reader.bytes(32)
  return reader.u64()
}

/**
 * Whether somebody else may move what is in the account or close it. Of accounts that are not the associated one of
 * their mint that says nothing: anybody may make one with a close authority and give it away.
 */
const isShared = ({ key, mint, owner, program, sharedWith }: TokenAccount): boolean =>
  sharedWith !== null && key.equals(associatedAccount(owner, mint, program))

const remarksOf = (token: Mint | null, accounts: ReadonlyArray<TokenAccount>): ReadonlyArray<Remark> => [
  ...(token?.isPaused === true ? ["PAUSED" as const] : []),
  ...(accounts.some(({ isFrozen }) => isFrozen) ? ["FROZEN" as const] : []),
  ...(accounts.some(isShared) ? ["SHARED" as const] : []),
  ...(token?.hasPermanentDelegate === true ? ["PERMANENT_DELEGATE" as const] : []),
  ...(token?.isNonTransferable === true ? ["NON_TRANSFERABLE" as const] : []),
  ...(token !== null && token.hookProgram !== null ? ["TRANSFER_HOOK" as const] : []),
  ...(token?.hasTransferFee === true ? ["TRANSFER_FEE" as const] : [])
]

const sum = (accounts: ReadonlyArray<TokenAccount>): bigint =>
  accounts.reduce((total, { amountRaw }) => total + amountRaw, 0n)

const holdingOf = (
  mint: PublicKey,
  { accounts, lamports, token }: Pick<Holding, "accounts" | "lamports" | "token">,
  time: bigint
): Holding => {
  const isStuck = token === null || token.isPaused || token.isNonTransferable
  return {
    assetId: spl(mint.toBase58()),
    mint,
    raw: sum(accounts) + lamports,
    movableRaw: isStuck ? 0n : sum(accounts.filter(({ isFrozen }) => !isFrozen)) + lamports,
    lamports,
    accounts,
    token,
    multiplier: token === null ? 10n ** 18n : multiplierAt(token.multiplier, time),
    remarks: remarksOf(token, accounts)
  }
}

/** Accounts of one mint that are read, so that a flood of them leaves room for others. */
const accountsOfAMint = 50

/** The associated account first, then the fullest. */
const mostInformative = (accounts: ReadonlyArray<TokenAccount>): ReadonlyArray<TokenAccount> => {
  const isAssociated = ({ key, mint, owner, program }: TokenAccount) =>
    key.equals(associatedAccount(owner, mint, program))
  const ordered = accounts.toSorted(fullestFirst)
  return [...ordered.filter(isAssociated), ...ordered.filter((one) => !isAssociated(one))].slice(0, accountsOfAMint)
}

/** Some of each mint before more of any. */
const inTurn = (accounts: ReadonlyArray<TokenAccount>): ReadonlyArray<TokenAccount> => {
  const byMint = [...Map.groupBy(accounts, ({ mint }) => mint.toBase58()).values()].map(mostInformative)
  return Array.from({ length: accountsOfAMint }, (_, place) => byMint.flatMap((one) => one[place] ?? [])).flat()
}

const fullestFirst = (a: TokenAccount, b: TokenAccount): number => (a.amountRaw > b.amountRaw ? -1 : 1)

/** Where the tokens of an owner are; accounts that are no token accounts of that owner are left out. */
const findAccounts = Effect.fnUntraced(function* (owner: PublicKey, { atLeastSlot = 0n, mints }: Wanted) {
  const rpc = yield* SolanaRpc
  const found = yield* Effect.forEach(tokenPrograms, (program) => rpc.tokenAccounts(owner, program, atLeastSlot), {
    concurrency: "unbounded"
  })
  const wanted = mints === undefined ? undefined : new Set(mints.map((mint) => mint.toBase58()))
  const accounts = found
    .flatMap(({ values }) => values)
    .map((account) => decodeTokenAccount(account.key, account))
    .filter(Result.isSuccess)
    .map(({ success }) => success)
    .filter((account) => account.owner.equals(owner) && wanted?.has(account.mint.toBase58()) !== false)
  const seen = found.reduce((latest, { slot }) => (slot > latest ? slot : latest), atLeastSlot)
  return {
    keys: inTurn(accounts)
      .slice(0, accountLimit)
      .map(({ key, mint }) => ({ key, mint })),
    seen
  }
})

/** Mints of which the associated account is read also where it is no account of the owner any more. */
const givenAwayLimit = 64

/**
 * Associated accounts of SPL Token at which the owner has nothing: one that is there belongs to somebody else, and
 * receives what is deposited. Token-2022 lets nobody give an associated account away.
 */
const missingAssociated = (
  owner: PublicKey,
  mints: ReadonlyArray<PublicKey>,
  found: ReadonlyArray<{ readonly key: PublicKey }>
): ReadonlyArray<PublicKey> => {
  if (mints.length > givenAwayLimit) return []
  const known = new Set(found.map(({ key }) => key.toBase58()))
  return mints
    .map((mint) => associatedAccount(owner, mint, TOKEN_PROGRAM_ID))
    .filter((key) => !known.has(key.toBase58()))
}

/** Who else may move assets, or receives what is deposited of them. */
export const foreignAuthorities = ({
  givenAway,
  tokens
}: Pick<Holdings, "givenAway" | "tokens">): ReadonlyArray<ForeignAuthority> => [
  ...tokens.flatMap(({ accounts, assetId }) =>
    accounts.filter(isShared).map(({ sharedWith }) => ({ assetId, holder: sharedWith!.toBase58() }))
  ),
  ...givenAway.map(({ mint, owner }) => ({ assetId: spl(mint.toBase58()), holder: owner.toBase58() }))
]

/** What the owner, a key or a program's address, holds of the requested mints. */
export const readHoldings = Effect.fn("solana.readHoldings")(function* (
  owner: PublicKey,
  wanted: Wanted = {}
): Effect.fn.Return<Holdings, ChainUnavailable, SolanaRpc> {
  const rpc = yield* SolanaRpc
  const { keys, seen } = yield* findAccounts(owner, wanted)
  const sol = (wanted.mints ?? [NATIVE_MINT]).filter(isSol)
  const mints = [...new Set([...keys.map(({ mint }) => mint), ...sol].map((mint) => mint.toBase58()))]
  const absent = missingAssociated(owner, wanted.mints ?? [], keys)
  const [read, rent] = yield* Effect.all(
    [
      rpc.accounts(
        [
          SYSVAR_CLOCK_PUBKEY,
          owner,
          ...keys.map(({ key }) => key),
          ...mints.map((mint) => new PublicKey(mint)),
          ...absent
        ],
        seen
      ),
      rpc.minimumRent(0)
    ],
    { concurrency: "unbounded" }
  )
  const [clock, self, ...rest] = read.values
  if (clock === undefined || Option.isNone(clock)) return yield* unreadable("the node does not show the chain's clock")
  const time = timeIn(clock.value)

  const tokens = new Map(
    mints.map((mint, index) => {
      const account = rest[keys.length + index]!
      const decoded = Option.map(account, (one) => decodeMint(new PublicKey(mint), one))
      return [mint, Option.isSome(decoded) && Result.isSuccess(decoded.value) ? decoded.value.success : null] as const
    })
  )
  const accounts = keys.flatMap(({ key }, index) => {
    const account = rest[index]!
    if (Option.isNone(account)) return []
    const decoded = decodeTokenAccount(key, account.value)
    return Result.isSuccess(decoded) && decoded.success.owner.equals(owner) ? [decoded.success] : []
  })
  const givenAway = absent.flatMap((key, index) => {
    const account = rest[keys.length + mints.length + index]!
    const decoded = Option.map(account, (one) => decodeTokenAccount(key, one))
    if (Option.isNone(decoded) || Result.isFailure(decoded.value)) return []
    return decoded.value.success.owner.equals(owner) ? [] : [decoded.value.success]
  })
  const held = self === undefined || Option.isNone(self) ? 0n : self.value.lamports
  const spare = sol.length > 0 && held > rent ? held - rent : 0n
  const byMint = Map.groupBy(accounts, ({ mint }) => mint.toBase58())
  return {
    slot: read.slot,
    time,
    givenAway,
    tokens: mints.flatMap((text) => {
      const mint = new PublicKey(text)
      const found = (byMint.get(text) ?? []).sort(fullestFirst)
      const lamports = isSol(mint) ? spare : 0n
      if (found.length === 0 && lamports === 0n) return []
      return [holdingOf(mint, { accounts: found, lamports, token: tokens.get(text) ?? null }, time)]
    })
  }
})
