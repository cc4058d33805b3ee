//! Which OpenStreetMap ways may be used, in which direction, and how fast.
//!
//! After the OpenStreetMap wiki ("Key:highway", "Key:oneway", "Key:access"). Service roads are left
//! out for cars: they lead to single buildings, not through the city.

use crate::map::TravelMode;

/// The tags of a way that matter here, as they stand in the file.
#[derive(Clone, Copy, Default)]
pub(super) struct Tags<'a> {
    pub(super) highway: &'a [u8],
    pub(super) oneway: &'a [u8],
    pub(super) oneway_bicycle: &'a [u8],
    pub(super) oneway_foot: &'a [u8],
    pub(super) cycleway: &'a [u8],
    pub(super) junction: &'a [u8],
    pub(super) area: &'a [u8],
    pub(super) access: &'a [u8],
    pub(super) vehicle: &'a [u8],
    pub(super) motor_vehicle: &'a [u8],
    pub(super) motorcar: &'a [u8],
    pub(super) bicycle: &'a [u8],
    pub(super) foot: &'a [u8],
    pub(super) maxspeed: &'a [u8],
}

impl<'a> Tags<'a> {
    /// Notes one tag; those that do not matter are ignored.
    pub(super) fn set(&mut self, key: &[u8], value: &'a [u8]) {
        let field = match key {
            b"highway" => &mut self.highway,
            b"oneway" => &mut self.oneway,
            b"oneway:bicycle" => &mut self.oneway_bicycle,
            b"oneway:foot" => &mut self.oneway_foot,
            b"cycleway" => &mut self.cycleway,
            b"junction" => &mut self.junction,
            b"area" => &mut self.area,
            b"access" => &mut self.access,
            b"vehicle" => &mut self.vehicle,
            b"motor_vehicle" => &mut self.motor_vehicle,
            b"motorcar" => &mut self.motorcar,
            b"bicycle" => &mut self.bicycle,
            b"foot" => &mut self.foot,
            b"maxspeed" => &mut self.maxspeed,
            _ => return,
        };
        *field = value;
    }
}

/// In which order of its nodes a way may be travelled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ways {
    Both,
    Forward,
    Backward,
}

/// How a way may be used; `None` if not at all.
pub(super) fn usable(tags: &Tags<'_>, mode: TravelMode) -> Option<(Ways, f64)> {
    if tags.highway.is_empty() || tags.area == b"yes" {
        return None;
    }
    let speed = class_speed_kmh(tags.highway, mode)?;
    // The most specific access tag that is there decides.
    let chain: &[&[u8]] = match mode {
        TravelMode::Drive => &[tags.motorcar, tags.motor_vehicle, tags.vehicle, tags.access],
        TravelMode::Bike => &[tags.bicycle, tags.vehicle, tags.access],
        TravelMode::Walk => &[tags.foot, tags.access],
    };
    let access = chain.iter().find(|value| !value.is_empty()).copied().unwrap_or(b"");
    if matches!(access, b"no" | b"private" | b"use_sidepath" | b"agricultural" | b"forestry") {
        return None;
    }
    let ways = directions(tags, mode)?;
    let limit = if mode == TravelMode::Drive { maxspeed_kmh(tags.maxspeed) } else { None };
    Some((ways, limit.unwrap_or(speed)))
}

/// The speed where no limit is posted, and with it which classes a mode uses.
fn class_speed_kmh(highway: &[u8], mode: TravelMode) -> Option<f64> {
    let base = highway.strip_suffix(b"_link").unwrap_or(highway);
    let drive = match base {
        b"motorway" => 90.0,
        b"trunk" => 70.0,
        b"primary" => 50.0,
        b"secondary" => 50.0,
        b"tertiary" => 45.0,
        b"unclassified" | b"road" => 40.0,
        b"residential" => 30.0,
        b"living_street" if base == highway => 10.0,
        _ => 0.0,
    };
    let minor = matches!(highway, b"service" | b"track" | b"path" | b"cycleway");
    match mode {
        TravelMode::Drive => (drive > 0.0).then_some(drive),
        TravelMode::Bike => {
            ((drive > 0.0 && drive < 70.0) || minor).then_some(if minor { 13.0 } else { 16.0 })
        }
        TravelMode::Walk => {
            let footway = matches!(
                highway,
                b"footway" | b"pedestrian" | b"steps" | b"bridleway" | b"corridor" | b"platform"
            );
            ((drive > 0.0 && base != b"motorway") || minor || footway).then_some(4.8)
        }
    }
}

/// `None` for ways whose direction changes by the hour.
fn directions(tags: &Tags<'_>, mode: TravelMode) -> Option<Ways> {
    let roundabout = matches!(tags.junction, b"roundabout" | b"circular");
    let general = match tags.oneway {
        b"yes" | b"true" | b"1" => Ways::Forward,
        b"-1" | b"reverse" => Ways::Backward,
        b"no" | b"false" | b"0" => Ways::Both,
        b"reversible" if mode != TravelMode::Walk => return None,
        _ if roundabout || tags.highway == b"motorway" => Ways::Forward,
        _ => Ways::Both,
    };
    Some(match mode {
        TravelMode::Drive => general,
        TravelMode::Bike => {
            let both = tags.oneway_bicycle == b"no" || tags.cycleway.starts_with(b"opposite");
            if both { Ways::Both } else { general }
        }
        TravelMode::Walk => {
            if tags.oneway_foot == b"yes" {
                Ways::Forward
            } else {
                Ways::Both
            }
        }
    })
}

/// A posted limit: `50`, `30 mph`, `50 km/h`. Codes such as `IT:urban` are left to the class.
fn maxspeed_kmh(text: &[u8]) -> Option<f64> {
    let text = std::str::from_utf8(text).ok()?.trim();
    let digits = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let value: f64 = text[..digits].parse().ok()?;
    let factor = match text[digits..].trim() {
        "" | "km/h" | "kmh" | "kph" => 1.0,
        "mph" => 1.609_344,
        _ => return None,
    };
    let kmh = value * factor;
    (5.0..=150.0).contains(&kmh).then_some(kmh)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tags<'a>(list: &[(&'a str, &'a str)]) -> Tags<'a> {
        let mut tags = Tags::default();
        list.iter().for_each(|(key, value)| tags.set(key.as_bytes(), value.as_bytes()));
        tags
    }

    fn drive(list: &[(&str, &str)]) -> Option<Ways> {
        usable(&tags(list), TravelMode::Drive).map(|(ways, _)| ways)
    }

    #[test]
    fn one_way_tags_and_what_implies_them() {
        let primary = ("highway", "primary");
        assert_eq!(drive(&[primary]), Some(Ways::Both));
        assert_eq!(drive(&[primary, ("oneway", "yes")]), Some(Ways::Forward));
        assert_eq!(drive(&[primary, ("oneway", "-1")]), Some(Ways::Backward));
        assert_eq!(drive(&[primary, ("oneway", "reversible")]), None);
        assert_eq!(drive(&[primary, ("junction", "roundabout")]), Some(Ways::Forward));
        assert_eq!(drive(&[("highway", "motorway")]), Some(Ways::Forward));
        assert_eq!(drive(&[("highway", "motorway"), ("oneway", "no")]), Some(Ways::Both));
    }

    #[test]
    fn what_each_mode_may_use() {
        let may = |highway, mode| usable(&tags(&[("highway", highway)]), mode).is_some();
        for (highway, drives, walks, bikes) in [
            ("motorway", true, false, false),
            ("trunk", true, true, false),
            ("residential", true, true, true),
            ("primary_link", true, true, true),
            ("service", false, true, true),
            ("footway", false, true, false),
            ("cycleway", false, true, true),
            ("proposed", false, false, false),
        ] {
            assert_eq!(may(highway, TravelMode::Drive), drives, "drive {highway}");
            assert_eq!(may(highway, TravelMode::Walk), walks, "walk {highway}");
            assert_eq!(may(highway, TravelMode::Bike), bikes, "bike {highway}");
        }
    }

    #[test]
    fn the_most_specific_access_tag_decides() {
        let street = ("highway", "residential");
        assert_eq!(drive(&[street, ("access", "private")]), None);
        assert_eq!(drive(&[street, ("access", "no"), ("motor_vehicle", "yes")]), Some(Ways::Both));
        assert_eq!(drive(&[street, ("motorcar", "no")]), None);
    }

    #[test]
    fn posted_limits() {
        let speed = |limit| {
            usable(&tags(&[("highway", "primary"), ("maxspeed", limit)]), TravelMode::Drive)
                .unwrap()
                .1
        };
        assert_eq!(speed("30"), 30.0);
        assert_eq!(speed("30 mph"), 30.0 * 1.609_344);
        assert_eq!(speed("IT:urban"), 50.0);
        assert_eq!(speed("9999"), 50.0);
    }

    #[test]
    fn cyclists_may_ride_against_where_signed() {
        let street = [("highway", "residential"), ("oneway", "yes"), ("oneway:bicycle", "no")];
        assert_eq!(usable(&tags(&street), TravelMode::Bike).unwrap().0, Ways::Both);
        assert_eq!(drive(&street), Some(Ways::Forward));
    }
}
