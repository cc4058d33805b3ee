import type { Outcome } from "./index.js";

/** A `Client`, or a `Noise`. */
export interface Reporter {
  report(at: { lat: number; lon: number }): Promise<Pick<Outcome, "lat" | "lon" | "accuracyM">>;
}

export interface ApproximatePosition extends GeolocationPosition {
  accuracyMode: "approximate";
}

export interface ApproximateOptions extends PositionOptions {
  accuracyMode?: "approximate";
}

export class BlurredGeolocation implements Geolocation {
  constructor(client: Reporter, source?: Geolocation);
  getCurrentPosition(success: (position: ApproximatePosition) => void, failure?: PositionErrorCallback | null, options?: ApproximateOptions): void;
  watchPosition(success: (position: ApproximatePosition) => void, failure?: PositionErrorCallback | null, options?: ApproximateOptions): number;
  clearWatch(id: number): void;
}

export function blurredPosition(report: Pick<Outcome, "lat" | "lon" | "accuracyM">, timestamp?: number, fixAccuracyM?: number): ApproximatePosition;
/** The radius of a report made from a fix that may itself be off by so many metres. */
export function honestAccuracy(reportM: number, fixM?: number): number;
export function install(client: Reporter, target?: Navigator): BlurredGeolocation;
