/** All that is known of the share behind a token; what no source gives is null. */
import { DateTime } from "effect"
import * as Decimal from "#domain/values/Decimal.ts"
import type { EquityDetails } from "#domain/listing/AssetModels.ts"
import type { RankedStock } from "#domain/listing/AssetSnapshot.ts"
import type { IssuerPolicies } from "#domain/listing/IssuerPolicies.ts"
import type { MarketView } from "#domain/listing/MarketView.ts"
import { figure } from "#domain/marketData/Figure.ts"

/** Dividends of a year against the price of now, in percent with four decimals; null without either. */
const yieldOf = (view: MarketView, ticker: string): string | null => {
  const price = view.quoteOf(ticker)?.priceUsd
  const dividends = view.dividendsOf(ticker).filter(({ currency }) => currency === null || currency === "USD")
  if (price === undefined || price === null || dividends.length === 0) return null
  const paid = dividends.reduce((sum, { amount }) => sum + (Decimal.parse(amount) ?? 0n), 0n)
  const percent = (paid * 100n * Decimal.one) / Decimal.parse(price)!
  return figure(percent - (percent % 10n ** 14n))
}

const incomeOf = (view: MarketView, ticker: string): EquityDetails["income"] => {
  const today = DateTime.formatIsoDateUtc(DateTime.makeUnsafe(view.now))
  const dividends = view.dividendsOf(ticker)
  const last = dividends.find(({ exDate }) => exDate <= today) ?? dividends[0]
  if (last === undefined) return null
  return {
    dividendYieldPct: yieldOf(view, ticker),
    lastDividendUsd: last.currency === null || last.currency === "USD" ? last.amount : null,
    exDate: last.exDate,
    payDate: last.payDate
  }
}

const marketOf = (view: MarketView, ticker: string): EquityDetails["market"] => {
  const quote = view.quoteOf(ticker)
  const details = view.detailsOf(ticker)
  if (quote === undefined && details === undefined) return null
  return {
    primaryPriceUsd: quote?.priceUsd ?? null,
    previousCloseUsd: quote?.previousCloseUsd ?? null,
    dayHighUsd: quote?.dayHighUsd ?? null,
    dayLowUsd: quote?.dayLowUsd ?? null,
    changePct: quote?.changePercentage24h ?? null,
    marketCapUsd: details?.marketCapUsd ?? null,
    marketStatus: view.marketStatus,
    updatedAt: quote?.updatedAt ?? null
  }
}

/** Null for what is not a tokenized share. */
export const equityDetailsOf = (
  { listing, tags }: RankedStock,
  view: MarketView,
  issuers: IssuerPolicies["Service"]
): EquityDetails | null => {
  const { asset, home, taxonomy, ticker } = listing
  if (ticker === null || asset.subject === null) return null
  const details = view.detailsOf(ticker)
  const policy = asset.issuer === null ? undefined : issuers.of(asset.issuer)
  const labelOf = (dimension: string) =>
    asset.categories.find((category) => category.dimension === dimension)?.label ?? null
  return {
    identity: {
      ticker,
      companyName: asset.subject.name,
      description: details?.description ?? null,
      isin: view.issuedOf(listing.assetId)?.isin ?? null,
      exchange: details?.exchange ?? null,
      country: home?.country ?? null,
      issuer: taxonomy.issuer
    },
    taxonomy: {
      sector: labelOf("sector"),
      industryGroup: labelOf("industryGroup"),
      industry: labelOf("industry"),
      subIndustry: labelOf("subIndustry"),
      platformSector: labelOf("platformSector"),
      platformThemes: asset.categories
        .filter(({ dimension }) => dimension === "platformTheme")
        .map(({ label }) => label)
    },
    tagGroups: tags,
    market: marketOf(view, ticker),
    income: incomeOf(view, ticker),
    access:
      policy === undefined
        ? null
        : {
            restrictedCountries: policy.restricted,
            minOrderUsd: null,
            asOf: policy.asOf,
            source: policy.source
          },
    documents: [
      ...(details?.homepageUrl === undefined || details.homepageUrl === null
        ? []
        : [{ title: "Website", url: details.homepageUrl, kind: "website" }]),
      ...(policy?.documents ?? [])
    ]
  }
}
