//! Kubernetes' own kinds: their names, and their schemas from k8s-openapi's types, lowered when first asked for and once per
//! process.
//!
//! Absent: virtual kinds that cannot be read (reviews, bindings, scales), alpha and beta versions.
use std::{
    any::TypeId,
    sync::{Arc, LazyLock},
};

use k8s_openapi::{
    ListableResource, NamespaceResourceScope,
    api::{
        admissionregistration::v1 as admission, apps::v1 as apps, autoscaling::v1 as autoscaling1,
        autoscaling::v2 as autoscaling2, batch::v1 as batch, certificates::v1 as certificates,
        coordination::v1 as coordination, core::v1 as core, discovery::v1 as discovery, events::v1 as events,
        flowcontrol::v1 as flowcontrol, networking::v1 as networking, node::v1 as node, policy::v1 as policy,
        rbac::v1 as rbac, resource::v1 as resource, scheduling::v1 as scheduling, storage::v1 as storage,
    },
    apiextensions_apiserver::pkg::apis::apiextensions::v1 as apiextensions,
    kube_aggregator::pkg::apis::apiregistration::v1 as apiregistration,
};
use schemars::{JsonSchema, SchemaGenerator};

use crate::{
    engine::{
        kinds::Kind,
        schema::{from_json_schema, metadata::whole},
    },
    storage::catalog::{Names, StoredKind, StoredVersion, version_order},
};

/// All of them: one for each group and kind, with its versions. Shared by all workspaces.
pub fn kinds() -> &'static [Arc<StoredKind>] {
    static KINDS: LazyLock<Vec<Arc<StoredKind>>> = LazyLock::new(|| {
        let mut kinds: Vec<StoredKind> = vec![];
        for kind in all() {
            match kinds.iter_mut().find(|k| k.group == kind.group && k.names.kind == kind.names.kind) {
                Some(other) => other.versions.extend(kind.versions),
                None => kinds.push(kind),
            }
        }
        for kind in &mut kinds {
            kind.versions.sort_by(|a, b| version_order(&a.name, &b.name));
        }
        kinds.into_iter().map(Arc::new).collect()
    });
    &KINDS
}

fn kind<T>(short_names: &[&str]) -> StoredKind
where
    T: ListableResource + JsonSchema + 'static,
    T::Scope: 'static,
{
    let namespaced = TypeId::of::<T::Scope>() == TypeId::of::<NamespaceResourceScope>();
    let lower = move || {
        let schema = SchemaGenerator::default().into_root_schema_for::<T>();
        Arc::new(Kind {
            group: T::GROUP.into(),
            version: T::VERSION.into(),
            kind: T::KIND.into(),
            plural: T::URL_PATH_SEGMENT.into(),
            namespaced,
            schema: Arc::new(whole(&from_json_schema(schema.as_value()))),
        })
    };
    let in_all = matches!(
        (T::GROUP, T::KIND),
        ("", "Pod" | "ReplicationController" | "Service")
            | ("apps", "DaemonSet" | "Deployment" | "ReplicaSet" | "StatefulSet")
            | ("autoscaling", "HorizontalPodAutoscaler")
            | ("batch", "CronJob" | "Job")
    );
    StoredKind {
        group: T::GROUP.into(),
        names: Names {
            kind: T::KIND.into(),
            list_kind: T::LIST_KIND.into(),
            plural: T::URL_PATH_SEGMENT.into(),
            singular: T::KIND.to_lowercase().into(),
            short_names: short_names.iter().copied().map(Arc::from).collect(),
            categories: if in_all { vec!["all".into()] } else { vec![] },
        },
        namespaced,
        versions: vec![Arc::new(StoredVersion::new(T::VERSION, Arc::new([]), lower))],
    }
}

fn all() -> Vec<StoredKind> {
    vec![
        kind::<core::ConfigMap>(&["cm"]),
        kind::<core::Endpoints>(&["ep"]),
        kind::<core::Event>(&["ev"]),
        kind::<core::LimitRange>(&["limits"]),
        kind::<core::Namespace>(&["ns"]),
        kind::<core::Node>(&["no"]),
        kind::<core::PersistentVolume>(&["pv"]),
        kind::<core::PersistentVolumeClaim>(&["pvc"]),
        kind::<core::Pod>(&["po"]),
        kind::<core::PodTemplate>(&[]),
        kind::<core::ReplicationController>(&["rc"]),
        kind::<core::ResourceQuota>(&["quota"]),
        kind::<core::Secret>(&[]),
        kind::<core::Service>(&["svc"]),
        kind::<core::ServiceAccount>(&["sa"]),
        kind::<apps::ControllerRevision>(&[]),
        kind::<apps::DaemonSet>(&["ds"]),
        kind::<apps::Deployment>(&["deploy"]),
        kind::<apps::ReplicaSet>(&["rs"]),
        kind::<apps::StatefulSet>(&["sts"]),
        kind::<autoscaling1::HorizontalPodAutoscaler>(&["hpa"]),
        kind::<autoscaling2::HorizontalPodAutoscaler>(&["hpa"]),
        kind::<batch::CronJob>(&["cj"]),
        kind::<batch::Job>(&[]),
        kind::<certificates::CertificateSigningRequest>(&["csr"]),
        kind::<coordination::Lease>(&[]),
        kind::<discovery::EndpointSlice>(&[]),
        kind::<events::Event>(&["ev"]),
        kind::<flowcontrol::FlowSchema>(&[]),
        kind::<flowcontrol::PriorityLevelConfiguration>(&[]),
        kind::<networking::Ingress>(&["ing"]),
        kind::<networking::IngressClass>(&[]),
        kind::<networking::NetworkPolicy>(&["netpol"]),
        kind::<node::RuntimeClass>(&[]),
        kind::<policy::PodDisruptionBudget>(&["pdb"]),
        kind::<rbac::ClusterRole>(&[]),
        kind::<rbac::ClusterRoleBinding>(&[]),
        kind::<rbac::Role>(&[]),
        kind::<rbac::RoleBinding>(&[]),
        kind::<resource::DeviceClass>(&[]),
        kind::<resource::ResourceClaim>(&[]),
        kind::<resource::ResourceClaimTemplate>(&[]),
        kind::<resource::ResourceSlice>(&[]),
        kind::<scheduling::PriorityClass>(&["pc"]),
        kind::<storage::CSIDriver>(&[]),
        kind::<storage::CSINode>(&[]),
        kind::<storage::CSIStorageCapacity>(&[]),
        kind::<storage::StorageClass>(&["sc"]),
        kind::<storage::VolumeAttachment>(&[]),
        kind::<admission::MutatingWebhookConfiguration>(&[]),
        kind::<admission::ValidatingAdmissionPolicy>(&[]),
        kind::<admission::ValidatingAdmissionPolicyBinding>(&[]),
        kind::<admission::ValidatingWebhookConfiguration>(&[]),
        kind::<apiextensions::CustomResourceDefinition>(&["crd", "crds"]),
        kind::<apiregistration::APIService>(&[]),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::schema::structural::SchemaType;

    #[test]
    fn every_kind_has_a_schema_of_objects() {
        for kind in kinds() {
            for version in &kind.versions {
                let schema = version.schema();
                assert_eq!(schema.ty, Some(SchemaType::Object), "{}", kind.names.kind);
                assert!(schema.properties.get("metadata").is_some(), "{}", kind.names.kind);
                assert!(schema.properties.len() >= 3, "{}", kind.names.kind);
            }
        }
    }

    #[test]
    fn pods_are_typed_to_the_leaves() {
        let pod = kinds().iter().find(|k| &*k.names.kind == "Pod").unwrap();
        assert!(pod.namespaced);
        let mut schema = Arc::clone(pod.versions[0].schema());
        for step in ["spec", "containers", "[]", "resources", "limits"] {
            let next = if step == "[]" { schema.items.clone() } else { schema.field(step).cloned() };
            schema = next.unwrap_or_else(|| panic!("{step}"));
        }
        assert!(schema.additional.is_some());
        let phase = pod.versions[0].schema().field("status").and_then(|s| s.field("phase")).unwrap();
        assert_eq!(phase.ty, Some(SchemaType::String));
        let hpa = kinds().iter().find(|k| &*k.names.kind == "HorizontalPodAutoscaler").unwrap();
        assert_eq!(hpa.versions.iter().map(|v| &*v.name).collect::<Vec<_>>(), ["v2", "v1"]);
        assert!(!kinds().iter().find(|k| &*k.names.kind == "Node").unwrap().namespaced);
    }
}
