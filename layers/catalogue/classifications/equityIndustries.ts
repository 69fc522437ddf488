/**
 * Lines of business in which a company works, and how well each describes it, in percent. An editorial judgement of
 * what the company is known to earn from; the first named comes first among equals.
 */
import type { Equity } from "#layers/catalogue/assets/equities.ts"
import type { SubIndustry } from "#layers/catalogue/taxonomy/industries.ts"

export const equityIndustries: Readonly<Record<Equity, ReadonlyArray<readonly [SubIndustry, number]>>> = {
  AAPL: [["phones-and-computers", 95]],
  ADBE: [["creative-software", 96]],
  AMAT: [["wafer-processing-tools", 97]],
  AMC: [["cinemas", 97]],
  AMD: [["processors-and-accelerators", 96]],
  AMZN: [
    ["online-marketplaces", 88],
    ["cloud-hosting", 70]
  ],
  ANET: [["switches-and-routers", 96]],
  APP: [["advertising-technology", 90]],
  ARM: [["chip-blueprints", 97]],
  ASML: [["lithography-tools", 99]],
  AUR: [["self-driving-trucks", 90]],
  AVGO: [
    ["connectivity-chips", 88],
    ["infrastructure-software", 55]
  ],
  BA: [
    ["airliners", 90],
    ["defence-systems", 60]
  ],
  BABA: [
    ["online-marketplaces", 92],
    ["cloud-hosting", 50]
  ],
  CCL: [["cruise-lines", 99]],
  CEG: [["nuclear-generation", 95]],
  CELH: [["soft-drinks", 97]],
  CLSK: [["bitcoin-mining", 92]],
  COIN: [["digital-asset-exchanges", 97]],
  COST: [["warehouse-clubs", 98]],
  CRCL: [["stablecoin-issuers", 96]],
  CRM: [["enterprise-applications", 97]],
  CRWD: [["endpoint-security", 97]],
  CRWV: [["cloud-hosting", 93]],
  CSCO: [["switches-and-routers", 95]],
  CVNA: [["used-car-dealers", 96]],
  DDOG: [["system-monitoring", 96]],
  DELL: [
    ["servers-and-storage", 80],
    ["phones-and-computers", 70]
  ],
  DJT: [
    ["social-networks", 60],
    ["digital-asset-treasuries", 45]
  ],
  F: [["volume-car-makers", 98]],
  FTNT: [["network-security", 97]],
  GE: [["aircraft-engines", 97]],
  GEV: [["turbines-and-grid", 96]],
  GLW: [["optical-and-glass", 93]],
  GLXY: [
    ["digital-asset-banking", 93],
    ["cloud-hosting", 40]
  ],
  GME: [
    ["game-shops", 85],
    ["digital-asset-treasuries", 40]
  ],
  GOOGL: [
    ["search-engines", 92],
    ["cloud-hosting", 60]
  ],
  HIMS: [["telehealth", 92]],
  HOOD: [
    ["retail-brokers", 95],
    ["digital-asset-exchanges", 50]
  ],
  IBM: [
    ["technology-consulting", 75],
    ["infrastructure-software", 72]
  ],
  INTC: [
    ["processors-and-accelerators", 92],
    ["contract-chip-making", 50]
  ],
  INTU: [["enterprise-applications", 90]],
  IONQ: [["quantum-computers", 97]],
  IREN: [
    ["bitcoin-mining", 75],
    ["cloud-hosting", 60]
  ],
  JNJ: [["broad-medicines", 93]],
  KLAC: [["chip-inspection-tools", 97]],
  LHX: [["defence-systems", 96]],
  LLY: [["broad-medicines", 94]],
  LMT: [["defence-systems", 98]],
  LRCX: [["wafer-processing-tools", 97]],
  LULU: [["sports-clothing", 97]],
  META: [["social-networks", 96]],
  MRNA: [["gene-and-rna-medicines", 96]],
  MRVL: [["connectivity-chips", 94]],
  MSFT: [
    ["operating-platforms", 85],
    ["cloud-hosting", 80]
  ],
  MSTR: [
    ["digital-asset-treasuries", 90],
    ["enterprise-applications", 45]
  ],
  MU: [["memory-chips", 98]],
  NET: [
    ["content-delivery", 90],
    ["network-security", 65]
  ],
  NFLX: [["video-streaming", 98]],
  NOW: [["enterprise-applications", 96]],
  NU: [["digital-banks", 96]],
  NVDA: [["processors-and-accelerators", 98]],
  OKLO: [["reactor-development", 88]],
  ORCL: [
    ["databases", 88],
    ["cloud-hosting", 65]
  ],
  PANW: [["network-security", 96]],
  PFE: [["broad-medicines", 96]],
  PLTR: [["decision-analytics", 94]],
  PR: [["shale-producers", 96]],
  PWR: [["grid-construction", 95]],
  QCOM: [["connectivity-chips", 95]],
  RBLX: [["game-platforms", 96]],
  RDDT: [["social-networks", 95]],
  RGTI: [["quantum-computers", 97]],
  RIVN: [["electric-car-makers", 97]],
  RKLB: [["launch-services", 95]],
  SHOP: [["commerce-software", 95]],
  SMCI: [["servers-and-storage", 95]],
  SNAP: [["social-networks", 96]],
  SNOW: [["databases", 94]],
  SOFI: [["digital-banks", 93]],
  TSLA: [["electric-car-makers", 92]],
  TSM: [["contract-chip-making", 99]],
  TTWO: [["game-publishers", 98]],
  UNH: [["health-insurers", 95]],
  UPS: [["parcel-delivery", 98]],
  USAR: [["rare-earths", 90]],
  VRT: [["power-and-cooling", 93]],
  VST: [["mixed-generation", 93]],
  WULF: [["bitcoin-mining", 85]],
  XOM: [["oil-majors", 98]],
  ZM: [["collaboration-software", 96]]
}
