//! Options: which operations become tools, with which names and hints.

use onetool_core::{FLAT_NAME_MAX, ToolAnnotations};
use onetool_openapi::{Api, ApiOptions, Filter, LoadError, OperationOverride};
use serde_json::{Value, json};

use crate::support::{load_text, openapi, tool};

fn description() -> Value {
    let mut description = openapi(json!({
        "/pets": {"get": {"operationId": "listPets", "tags": ["pets"]}, "post": {"operationId": "createPet", "tags": ["pets", "admin"]}},
        "/pets/{id}": {"get": {"operationId": "getPet", "tags": ["pets"]}, "delete": {"operationId": "deletePet", "tags": ["admin"]},
                       "put": {"operationId": "putPet"}, "head": {"operationId": "headPet"}, "patch": {"operationId": "patchPet"}},
        "/admin/users": {"get": {"tags": ["admin"]}},
    }));
    description["servers"] = json!([{"url": "https://x.example"}]);
    description
}

async fn load_with(change: impl FnOnce(&mut ApiOptions)) -> Api {
    let mut options = ApiOptions::new("pets");
    change(&mut options);
    load_text(description().to_string(), options).await.unwrap()
}

fn names(api: &Api) -> Vec<&str> {
    api.tools.iter().map(|it| it.spec().name.tool()).collect()
}

fn list(values: &[&str]) -> Vec<String> {
    values.iter().map(|it| (*it).to_owned()).collect()
}

#[tokio::test]
async fn oas_1_2_hints_depend_on_the_method() {
    let api = load_with(|_| {}).await;
    let default = ToolAnnotations { open_world_hint: Some(true), ..ToolAnnotations::default() };
    for (name, expected) in [
        ("get_pet", ToolAnnotations { read_only_hint: Some(true), ..default }),
        ("head_pet", ToolAnnotations { read_only_hint: Some(true), ..default }),
        ("delete_pet", ToolAnnotations { destructive_hint: Some(true), ..default }),
        ("put_pet", ToolAnnotations { idempotent_hint: Some(true), ..default }),
        ("create_pet", default),
        ("patch_pet", default),
    ] {
        assert_eq!(tool(&api, name).spec().annotations, Some(expected), "{name}");
    }
}

#[tokio::test]
async fn oas_1_5_filters_include_and_exclude_operations() {
    let filter = |change: fn(&mut Filter)| {
        let mut filter = Filter::default();
        change(&mut filter);
        filter
    };
    for (include, exclude, expected) in [
        (
            filter(|it| it.operations = list(&["get*", "list?ets"])),
            Filter::default(),
            &["list_pets", "get_pet", "get_admin_users"][..],
        ),
        (
            filter(|it| it.tags = list(&["admin"])),
            Filter::default(),
            &["create_pet", "delete_pet", "get_admin_users"],
        ),
        (filter(|it| it.paths = list(&["/admin/*"])), Filter::default(), &["get_admin_users"]),
        (
            filter(|it| it.methods = list(&["get", "HEAD"])),
            Filter::default(),
            &["list_pets", "get_pet", "head_pet", "get_admin_users"],
        ),
        (
            filter(|it| (it.tags, it.methods) = (list(&["pets"]), list(&["post"]))),
            Filter::default(),
            &["create_pet"],
        ),
        (
            filter(|it| it.tags = list(&["pets", "admin"])),
            filter(|it| (it.methods, it.paths) = (list(&["DELETE"]), list(&["/admin*"]))),
            &["list_pets", "create_pet", "get_pet"],
        ),
        (Filter::default(), filter(|it| it.operations = list(&["*"])), &[]),
    ] {
        let api =
            load_with(|options| (options.include, options.exclude) = (include.clone(), exclude.clone()))
                .await;
        assert_eq!(names(&api), expected, "{include:?} {exclude:?}");
    }
}

#[tokio::test]
async fn oas_1_5_read_only_includes_only_operations_that_change_nothing() {
    let api = load_with(|options| {
        options.read_only = true;
        let annotations = ToolAnnotations::read_only();
        options
            .operations
            .insert("createPet".into(), OperationOverride { annotations, ..Default::default() });
    })
    .await;
    assert_eq!(names(&api), ["list_pets", "create_pet", "get_pet", "head_pet", "get_admin_users"]);
}

#[tokio::test]
async fn oas_1_5_individual_operations_can_be_overridden() {
    let api = load_with(|options| {
        let annotations = ToolAnnotations { idempotent_hint: Some(true), ..Default::default() };
        options.operations.insert(
            "getPet".into(),
            OperationOverride {
                name: Some("read_pet".into()),
                description: Some("Reads.".into()),
                annotations,
                enabled: None,
            },
        );
        options
            .operations
            .insert("deletePet".into(), OperationOverride { enabled: Some(false), ..Default::default() });
        options.operations.insert(
            "GET /admin/users".into(),
            OperationOverride { name: Some("users".into()), ..Default::default() },
        );
        options.operations.insert("getPot".into(), OperationOverride::default());
    })
    .await;
    let spec = tool(&api, "read_pet").spec();
    assert_eq!(spec.description, "Reads.");
    let hints = spec.annotations.unwrap();
    assert_eq!((hints.read_only_hint, hints.idempotent_hint), (Some(true), Some(true)));
    assert!(!names(&api).contains(&"delete_pet") && names(&api).contains(&"users"));
    assert_eq!(api.report.warnings, ["unknown operation 'getPot' under operations"]);
}

#[tokio::test]
async fn n4_names_are_unique_short_and_stable() {
    let long = "projectsLocationsClustersNodePoolsUpdateAndRollbackEverythingAtOnce";
    let mut description = openapi(json!({
        "/a": {"get": {"operationId": "get_pet"}}, "/b": {"get": {"operationId": "getPet"}}, "/c": {"get": {"operationId": "get-pet"}},
        "/d": {"get": {"operationId": format!("{long}A")}}, "/e": {"get": {"operationId": format!("{long}B")}},
        "/f": {"get": {"operationId": "日本"}}, "/g/{a}/h": {"get": {}}, "/g/{a}/h/": {"get": {}},
    }));
    description["servers"] = json!([{"url": "https://x.example"}]);
    let pack = "a_rather_long_pack";
    let api = load_text(description.to_string(), ApiOptions::new(pack)).await.unwrap();
    let again = load_text(description.to_string(), ApiOptions::new(pack)).await.unwrap();
    assert_eq!(names(&api), names(&again));
    assert_eq!(names(&api)[0], "get_pet");
    assert_eq!((names(&api)[5], names(&api)[6]), ("operation", "get_g_by_a_h"));
    let mut unique: Vec<String> = api.tools.iter().map(|it| it.spec().name.flat()).collect();
    assert!(api.tools.iter().all(|it| it.spec().name.as_str().len() <= FLAT_NAME_MAX), "{unique:?}");
    unique.sort();
    unique.dedup();
    assert_eq!(unique.len(), 8);
    let renamed: Vec<&str> = api.report.renamed.iter().map(|(key, _)| key.as_str()).collect();
    assert_eq!(renamed.len(), 5, "{renamed:?}");
    // A filter does not change names.
    let mut options = ApiOptions::new(pack);
    options.include.paths = vec!["/b".into()];
    let filtered = load_text(description.to_string(), options).await.unwrap();
    assert_eq!(names(&filtered), [names(&api)[1]]);
    let error = load_text(description.to_string(), ApiOptions::new("x".repeat(60))).await.err().unwrap();
    assert!(matches!(error, LoadError::PackName { max: 39, .. }), "{error}");
}
